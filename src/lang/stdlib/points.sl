/* Point clouds: what texture3d, bake3d and gather of PRMan are made of. A cloud in memory is a left-balanced k-d tree (see crate::texture::layout), which is walked without a stack
   (Wald 2022, "A Stack-Free Traversal Algorithm for Left-Balanced k-d Trees"): the node where the walk comes from tells where it goes. */

/* Vectors of a cloud's descriptor: count, vectors a point and largest radius, with the place of the first point; the number of channels; then the channels. */
#define IS_CLOUD (__texture_kind(file) == 4)
#define HEAD 4
#define CHANNELS 5
#define CHANNEL_NAMES 6
/* The first value of a point, after its position and its normal with the radius. */
#define VALUES 2
/* Nodes that a look-up visits at most. */
#define MAX_VISITS 4096
/* A look-up finds a point that is at most so many of its radii away; it averages the points around within so many radii of that one, or at least so many times its distance. */
#define REACH_IN_RADII 5
#define FILTER_IN_RADII 3
#define FILTER_BEYOND 1.5

/* Begins a step of a walk through the nodes that may lie within a distance of p, whose square is given: DIFFERENCE is from the node to p, IS_NEW whether it is visited for the first time. */
#define WALK \
    float count = xcomp(__points_triple(file, HEAD)); \
    float size = ycomp(__points_triple(file, HEAD)); \
    float first = __points_number(file, HEAD); \
    float at = 0; \
    float from = -1; \
    float visits = 0; \
    while (at >= 0 && visits < MAX_VISITS) { \
        float next = floor((at + 1) / 2) - 1; \
        if (at < count) { \
            float place = first + at * size; \
            vector difference = p - __points_triple(file, place); \
            float axis = __points_number(file, place); \
            float square = difference . difference; \
            if (from < at) {
#define END_WALK(within) \
            } \
            float along = axis < 1 ? xcomp(difference) : (axis < 2 ? ycomp(difference) : zcomp(difference)); \
            float near = 2 * at + (along > 0 ? 2 : 1); \
            if (from < at) \
                next = near; \
            else if (from == near && along * along <= within) \
                next = 4 * at + 3 - near; \
        } \
        from = at; \
        at = next; \
        visits += 1; \
    }

/* How far around p the points that face n are averaged; 0 where no point is near. */
float __points_reach(string file; point p; normal n; float widening)
{
    float reach = 0;
    if (IS_CLOUD) {
        float far = REACH_IN_RADII * zcomp(__points_triple(file, HEAD)) + widening;
        float best = far * far;
        WALK
            vector facing = vector __points_triple(file, place + 1);
            float radius = __points_number(file, place + 1);
            float limit = REACH_IN_RADII * radius + widening;
            if (square <= best && square <= limit * limit && (facing . n > 0 || facing . facing == 0)) {
                best = square;
                reach = max(FILTER_IN_RADII * radius, FILTER_BEYOND * sqrt(square)) + widening;
            }
        END_WALK(best)
    }
    return reach;
}

/* Where the values of a channel are in each point, or -1. */
float __points_channel(string file; string name)
{
    float channel = -1;
    if (IS_CLOUD) {
        float channels = xcomp(__points_triple(file, CHANNELS));
        float i;
        for (i = 0; i < channels; i += 1) {
            if (__points_is_named(file, CHANNEL_NAMES + i, name) > 0)
                channel = VALUES + i;
        }
    }
    return channel;
}

/* The mean of a channel over the points within reach of p that face n, weighted by the area that each stands for, by how it faces n, and by nearness. */
color __points_value(string file; point p; normal n; float reach; float channel)
{
    vector sum = 0;
    float weights = 0;
    if (IS_CLOUD && reach > 0 && channel > 0) {
        normal unit = normalize(n);
        float within = reach * reach;
        WALK
            if (square < within) {
                vector facing = vector __points_triple(file, place + 1);
                float radius = __points_number(file, place + 1);
                float nearness = 1 - square / within;
                float cosine = facing . facing == 0 ? 1 : max(0, facing . unit);
                float weight = nearness * nearness * cosine * radius * radius;
                sum += weight * vector __points_triple(file, place + channel);
                weights += weight;
            }
        END_WALK(within)
    }
    float scale = weights > 0 ? 1 / weights : 0;
    return color (scale * xcomp(sum), scale * ycomp(sum), scale * zcomp(sum));
}

/* Points that one walk of gather finds at most. */
#define NEAR_BATCH 16
/* No distance of gather is larger, so that squares are finite. */
#define FARTHEST_POINT 1e18

/* Whether the sphere of a point, at an offset from the apex, touches the cone around the unit vector dir: 1 or 0. A zero vector has all directions in its cone. */
float __points_in_cone(vector offset; vector dir; float angle; float radius)
{
    float along = offset . dir;
    float across = sqrt(max(0, offset . offset - along * along));
    float beyond = across * cos(angle) - along * sin(angle);
    /* The apex is what is nearest in the cone. */
    float is_behind = along * cos(angle) + across * sin(angle) < 0 ? 1 : 0;
    float is_touched = beyond <= 0 || (beyond <= radius && (is_behind < 1 || offset . offset <= radius * radius)) ? 1 : 0;
    return dir . dir > 0 ? is_touched : 1;
}

/* The places of the points that follow the one at last, or of the first where last is below 0, in the order of their distance from p, and of their place where that is equal; gives
   how many are found. A point counts within radius and its own radius of p, or within REACH_IN_RADII of its own where radius is below 0, if it is no farther than maxdist and in the
   cone. */
float __points_near(string file; point p; vector dir; float angle; float radius; float maxdist; float last; output float places[NEAR_BATCH])
{
    float found = 0;
    if (IS_CLOUD) {
        float squares[NEAR_BATCH];
        vector unit = dir . dir > 0 ? normalize(dir) : vector 0;
        float farthest = min(maxdist, FARTHEST_POINT);
        float largest = zcomp(__points_triple(file, HEAD));
        float far = min(farthest, radius < 0 ? REACH_IN_RADII * largest : radius + largest);
        float within = far < 0 ? -1 : far * far;
        float after = -1;
        if (last >= 0) {
            vector to_last = p - __points_triple(file, last);
            after = to_last . to_last;
        }
        WALK
            float own = __points_number(file, place + 1);
            float limit = min(farthest, radius < 0 ? REACH_IN_RADII * own : radius + own);
            float is_next = square > after || (square == after && place > last) ? 1 : 0;
            if (found == NEAR_BATCH && square == within && place > places[NEAR_BATCH - 1])
                is_next = 0;
            if (is_next > 0 && square <= within && limit >= 0 && square <= limit * limit && __points_in_cone(-difference, unit, angle, own) > 0) {
                float i = min(found, NEAR_BATCH - 1);
                while (i > 0 && (squares[i - 1] > square || (squares[i - 1] == square && places[i - 1] > place))) {
                    squares[i] = squares[i - 1];
                    places[i] = places[i - 1];
                    i -= 1;
                }
                squares[i] = square;
                places[i] = place;
                found = min(found + 1, NEAR_BATCH);
                if (found == NEAR_BATCH)
                    within = squares[NEAR_BATCH - 1];
            }
        END_WALK(within)
    }
    return found;
}

/* Half the side of the square that a sample stands for where the normal is n: the ray's cone, cut at a slant. */
float __sample_radius(normal n)
{
    extern vector I;
    float cosine = abs(normalize(I) . normalize(n));
    return 0.5 * __input("ray.footprint") / sqrt(max(cosine, 0.05));
}

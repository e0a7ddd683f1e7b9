// Adds a wave's samples to the film: path i owns pixel i of the band, so the order of the additions is that of the waves.
//
// CPU counterpart: `FilmPixel::add` of `src/render/film.rs`; layouts: `src/render/gpu/accumulate.rs`.

struct Params {
    // W: the stride of the frames.
    paths: u32,
    // Pixels of the band.
    pixels: u32,
    // 1 in the first wave of a band, whose samples replace what the film held.
    first: u32,
    reserved: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
// The results of the camera entry: words 0 to 2 the colour, word 3 the alpha; word k of path i at k W + i.
@group(0) @binding(1) var<storage, read> frames: array<u32>;
@group(0) @binding(2) var<storage, read_write> film: array<vec4<f32>>;

@compute @workgroup_size(64)
fn accumulate(@builtin(global_invocation_id) id: vec3<u32>) {
    let pixel = id.x;
    if pixel >= params.pixels {
        return;
    }
    let bits = vec4<u32>(
        frames[pixel],
        frames[params.paths + pixel],
        frames[2u * params.paths + pixel],
        frames[3u * params.paths + pixel],
    );
    var sum = bitcast<vec4<f32>>(bits);
    if params.first == 0u {
        sum += film[pixel];
    }
    film[pixel] = sum;
}

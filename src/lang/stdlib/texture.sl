/* Textures of RISpec 3.2, section 15.7. */

color texture(string name; float x; float y) { return __texture_color(name, 0, x, y, 0, 0, 0, 0); }
float texture(string name; float x; float y) { return __texture_float(name, 0, x, y, 0, 0, 0, 0); }
color texture(string name) { extern float s; extern float t; return texture(name, s, t); }
float texture(string name) { extern float s; extern float t; return texture(name, s, t); }

//! The three listings of Węgrzanowski 2006, chapter 12, as test data.

/// §12.1, the surface shader that shades by depth: 9 instructions.
pub const DEPTH_SURFACE: &str = "\
SUBROUTINE_ENTRY_s:
mul R3.xyz, R1.xyz, HIT.z ; direction times distance
add R2.xyz, R0.xyz, R3.xyz ; the point that was hit
dp3_rsq R15.y, R2.xyz, R2.xyz
mov_rcp R15.z, S.y
add R1.w, 1.8, -S.z
add R0.w, 1.0, -R1.w
mov R0.xz, R0.w
mov R0.y, R1.w
mov R0, R0 + return or xyzw (>=0 or <1)
";

/// §12.1, the main shader, which shoots the ray of the pixel at `R0.xyz`: 19 instructions.
pub const MAIN: &str = "\
SUBROUTINE_ENTRY_m:
mov R2.xy, 0.5
mov R3.x, 2.0
mov R2.z, 0.0
mov R4.xy, 0.0
mov R3.y, -2.0
add R5.xyz, R0.xyz, -R2.xyz
mov R4.z, 1.0
mov R3.z, 0.0
mad R6.xyz, R5.xyz, R3.xyz, R4.xyz
dp3_rsq R15.w, R6.xyz, R6.xyz
mul R1.xyz, R6.xyz, S.w
trace 0.0, R1.xyz, C31
mov R0.xyz, HIT.xyz
mov R15.w, HIT.z + jmp L23, w (>=0)
mov R0.xyz, 0.0
L26:
mov R0, R0 + return or xyzw (>=0 or <1)
L23:
mov R0.xyz, 0.0
call HIT.w push 0
jmp L26
";

/// §12.2, the surface shader with a light at (-0.2, 0.5, 0): 38 instructions.
pub const LIT_SURFACE: &str = "\
SUBROUTINE_ENTRY_s:
load I0, HIT_TRI, 0
mov A, I0 ; vertices A, B, C and the triangle's data
load I0, A0, 0
load I1, A1, 0
load I2, A2, 0
load I3, A3, 0
add R9.xyz, I1.xyz, -I0.xyz
add R8.xyz, I2.xyz, -I0.xyz
mul R11.xyz, R1.xyz, HIT.z
mov R5.xyz, I3.xyz
mul R10.xyz, R9.zxy, R8.yzx
add R4.xyz, R0.xyz, R11.xyz
mad R12.xyz, R9.yzx, R8.zxy, -R10.xyz ; the geometric normal
dp3_rsq R15.x, R12.xyz, R12.xyz
mul R2.xyz, R12.xyz, S.x
dp3 R2.w, R2.xyz, R1.xyz
add R15.w, 0.0, -R2.w + jmp L17, w (>=0)
mov R2.xyz, -R2.xyz
L17:
mov R3.x, -0.2
mov R3.y, 0.5
mov R3.z, 0.0
add R7.xyz, R3.xyz, -R4.xyz
dp3_rsq R15.y, R7.xyz, R7.xyz
mul R6.xyz, R7.xyz, S.y
dp3 R1.w, R2.xyz, R6.xyz
add R15.w, 0.0, -R1.w + jmp L26, w (>=0)
add R15.w, 1.0, -R1.w + jmp L28, w (>=0)
mov R1.w, 1.0
L28:
mad R0.w, 0.6, R1.w, 0.4
add R15.w, 0.0, -R0.w + jmp L31, w (>=0)
add R15.w, 1.0, -R0.w + jmp L33, w (>=0)
mov R0.w, 1.0
L33:
mul R0.xyz, R5.xyz, R0.w
mov R0, R0 + return or xyzw (>=0 or <1)
L31:
mov R0.w, 0.0
jmp L33
L26:
mov R1.w, 0.0
jmp L28
";

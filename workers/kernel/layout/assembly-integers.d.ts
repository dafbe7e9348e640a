// Declares AssemblyScript's integer types for TypeScript, so that both compilers accept the files in this folder. These
// files hold only constants that fit a JavaScript number exactly, so 64-bit values beyond 2^53 do not belong here.

type u8 = number;
type u32 = number;
type usize = number;

// The integer types of AssemblyScript as TypeScript reads them, so that the files beside this one are compiled by both.
// Values up to 64 bits that do not fit a number do not belong here.

type u8 = number;
type u32 = number;
type usize = number;

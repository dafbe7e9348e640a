// The entry of a scout's thread; the build joins what it needs into one file.
import { serveErrands } from './input/scout/serve-errands.ts';

serveErrands();

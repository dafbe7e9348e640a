// The entry of a read-ahead thread's thread; the build joins what it needs into one file.
import { serveJobs } from '../input/read-ahead/serve-jobs.ts';

serveJobs();

// Entry point of a read-ahead thread. The build bundles its dependencies into one file.
import { serveJobs } from '../input/read-ahead/serve-jobs.ts';

serveJobs();

// A client in a separate process that uploads one file repeatedly: `upload-process JSON` with an UploadJob. Prints a
// line when it starts to send and its LoadResult at the end. Fails if a response is not as expected.
import { readFileSync } from 'node:fs';
import { soundLoad, uploadRequest } from './load.ts';

export interface UploadJob {
  readonly port: number;
  readonly path: string;
  readonly authorization: string;
  readonly expectedStatus: number;
  readonly file: string;
  readonly connections: number;
  readonly seconds: number;
}

const { port, path, authorization, expectedStatus, file, connections, seconds } = JSON.parse(
  process.argv[2]!,
) as UploadJob;
const request = uploadRequest(path, readFileSync(file), authorization);
process.stdout.write('sending\n');
const result = await soundLoad('an upload', { port, connections, seconds, request, expectedStatus });
process.stdout.write(`${JSON.stringify(result)}\n`);

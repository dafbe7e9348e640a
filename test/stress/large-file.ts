// Sends a large file to a service and receives its output: streams from the disk and keeps only digests. Independent of the test
// framework.
import { createHash } from 'node:crypto';
import { createReadStream, statSync } from 'node:fs';
import http from 'node:http';
import { pipeline } from 'node:stream/promises';

const BOUNDARY = 'template-run-stress';

export interface LargeAnswer {
  readonly status: number;
  readonly body: Record<string, unknown> & { readonly id?: string; readonly status?: string };
  readonly milliseconds: number;
}

/** Calls create_run with a file on the disk, as fast as the service reads. */
export async function uploadFile(port: number, key: string, template: string, path: string): Promise<LargeAnswer> {
  const opening = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n`;
  const closing = `\r\n--${BOUNDARY}--\r\n`;
  const begun = performance.now();
  const request = http.request({
    port,
    host: '127.0.0.1',
    agent: false,
    method: 'POST',
    path: `/api/v1/templates/${template}/runs`,
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
      'content-length': opening.length + statSync(path).size + closing.length,
    },
  });
  const answer = new Promise<LargeAnswer>((resolve, reject) => {
    request.on('error', reject);
    request.on('response', async (response) => {
      const text = (await response.toArray()).join('');
      const milliseconds = performance.now() - begun;
      resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) as LargeAnswer['body'], milliseconds });
    });
  });
  request.write(opening);
  const file = createReadStream(path, { highWaterMark: 256 * 1024 });
  file.pipe(request, { end: false });
  file.on('end', () => request.end(closing));
  // When the upload is refused, the rest of the file need not be read.
  return await answer.finally(() => file.destroy());
}

/** SHA-256 of a Run's output in hex. */
export async function downloadDigest(port: number, key: string, run: string): Promise<string> {
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
    http
      .get(
        {
          port,
          host: '127.0.0.1',
          agent: false,
          path: `/api/v1/runs/${run}/output`,
          headers: { authorization: `Bearer ${key}` },
        },
        resolve,
      )
      .on('error', reject);
  });
  if (response.statusCode !== 200) throw new Error(`the output answers ${response.statusCode}`);
  const hash = createHash('sha256');
  await pipeline(response, hash);
  return hash.digest('hex');
}

export async function fileDigest(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

// The files of the studio's page, as the build made them of page/, read once.
import { readFileSync } from 'node:fs';
import { PACKAGE_FOLDER } from '../package-folder.ts';

export interface PageFile {
  readonly type: string;
  readonly content: string;
}

const FILES: readonly (readonly [path: string, file: string, type: string])[] = [
  ['/', 'index.html', 'text/html; charset=utf-8'],
  ['/page.js', 'page.js', 'text/javascript; charset=utf-8'],
  ['/page.css', 'page.css', 'text/css; charset=utf-8'],
];

/** By the path of their requests. */
export function pageFiles(): ReadonlyMap<string, PageFile> {
  const folder = new URL('dist/studio/', PACKAGE_FOLDER);
  return new Map(
    FILES.map(([path, file, type]) => [path, { type, content: readFileSync(new URL(file, folder), 'utf8') }]),
  );
}

// Removes native binaries that this Node does not load: those for other systems and other versions of Node, which are most of
// an installation. Run it after `npm install`, with the Node that will run the service, and again after each update:
//   node node_modules/template-run/deploy/prune-binaries.mjs
// A copy of uWebSockets.js of which no binary loads is removed as a whole: the service then uses Node's own HTTP server.
import { existsSync, readdirSync, realpathSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const PACKAGE = fileURLToPath(new URL('..', import.meta.url));
/** npm installs a library in the first of these folders, or in the second if its version differs from the one beside. */
const FOLDERS = [join(PACKAGE, '..'), join(PACKAGE, 'node_modules')];
const BYTES_PER_MEGABYTE = 1e6;

await loadUws();
await import('classic-level');
process.report.excludeNetwork = true;
const loaded = new Set(process.report.getReport().sharedObjects.filter((path) => path.endsWith('.node')).map((path) => realpathSync(path)));
let removedBytes = 0;
let removedFiles = 0;
for (const folder of copiesOf('classic-level')) {
  const binaries = binariesIn(folder);
  if (binaries.some((path) => loaded.has(realpathSync(path)))) removeUnused(binaries);
}
for (const folder of copiesOf('uWebSockets.js')) {
  const binaries = binariesIn(folder);
  removeUnused(binaries);
  if (!binaries.some((path) => existsSync(path))) rmSync(folder, { recursive: true });
}
const megabytes = Math.round(removedBytes / BYTES_PER_MEGABYTE);
console.log(`Removed ${removedFiles} binaries (${megabytes} MB) that Node ${process.versions.node} does not load here.`);

/** Loads the library that the service would load: the one of this package, or else the one that is installed beside it. */
async function loadUws() {
  try {
    await import('uWebSockets.js');
  } catch {
    try {
      const beside = createRequire(join(PACKAGE, '..', '..', 'package.json'));
      await import(pathToFileURL(beside.resolve('uWebSockets.js')).href);
    } catch {
      // It is not installed, or has no binary for this Node and system.
    }
  }
}

function copiesOf(library) {
  return FOLDERS.map((folder) => join(folder, library)).filter((folder) => existsSync(folder));
}

function binariesIn(folder) {
  const names = readdirSync(folder, { recursive: true });
  return names.filter((name) => name.endsWith('.node')).map((name) => join(folder, name));
}

function removeUnused(binaries) {
  for (const path of binaries) {
    if (loaded.has(realpathSync(path))) continue;
    removedBytes += statSync(path).size;
    removedFiles++;
    rmSync(path);
  }
}

// The imports that are allowed between folders, and the files of the engine that parts of the HTTP process may use.

/** A folder may import from itself and from these. */
export const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  workers: [],
  src: ['workers'],
  bench: ['src', 'workers'],
  test: ['src', 'workers', 'bench'],
};

/**
 * The folders of `workers`, from the lowest to the highest. A folder may import values from itself and from the folders
 * before it. Files directly in `workers` and the libraries in `bundled` may be imported everywhere.
 */
export const LAYERS: readonly string[] = [
  'protocol',
  'values',
  'kernel',
  'memory',
  'scheduling',
  'batch',
  'expression',
  'template',
  'input',
  'output',
  'execution',
  'operations',
  'plan',
  'run',
  'watch',
  'thread',
];

/**
 * Imports of types from a higher folder. They do not exist at run time. The list may only become shorter: move the type to a
 * lower folder instead of adding a line.
 */
export const TYPES_FROM_ABOVE: readonly string[] = [
  'workers/protocol/messages.ts imports workers/input/reader.ts',
  'workers/protocol/messages.ts imports workers/template/template-text.ts',
  'workers/protocol/task-claims.ts imports workers/input/source/source.ts',
  'workers/template/check.ts imports workers/output/format.ts',
  'workers/template/language.ts imports workers/output/format.ts',
  'workers/template/operation.ts imports workers/execution/tables/run-tables.ts',
  'workers/template/operation.ts imports workers/input/reader.ts',
  'workers/template/operation.ts imports workers/output/writer.ts',
  'workers/template/sections.ts imports workers/output/format.ts',
];

/** The HTTP process may use the protocol, the Template's checker, the operation table and the files that these need. */
const WORKERS_FOR_SRC = [
  /^workers\/(?:built-files|bundles)\.ts$/,
  /^workers\/(?:plan|protocol|template)\//,
  /^workers\/operations\/index\.ts$/,
  /^workers\/batch\/schema\.ts$/,
  /^workers\/memory\/(?:account-share|budget|collector)\.ts$/,
  /^workers\/values\/suggestion\.ts$/,
  /^workers\/watch\/watch-messages\.ts$/,
  /^workers\/scheduling\/core-share\.ts$/,
  /^workers\/kernel\/bindings\/kernel\.ts$/,
];

/** Commands over local files also use the engine in the command's thread. */
const WORKERS_FOR_COMMANDS = [
  ...WORKERS_FOR_SRC,
  /^workers\/input\/index\.ts$/,
  /^workers\/run\/(?:inspect|split)\.ts$/,
  /^workers\/thread\/thread\.ts$/,
  /^workers\/output\/(?:index|planned-output|sink\/file-sink)\.ts$/,
];

/** The studio informs its page about the features of the language, and leaves dates in the cells of tests valid. */
const WORKERS_FOR_STUDIO = [
  ...WORKERS_FOR_SRC,
  /^workers\/expression\/functions\/index\.ts$/,
  /^workers\/watch\/column-profile\.ts$/,
  /^workers\/values\/(?:month-names|similarity)\.ts$/,
];

/** A draft is derived from the cells of a file. */
const WORKERS_FOR_DRAFTS = [
  ...WORKERS_FOR_SRC,
  /^workers\/input\/index\.ts$/,
  /^workers\/run\/inspect\.ts$/,
  /^workers\/values\/(?:date-pattern|normalise)\.ts$/,
];

/** Files of `workers` that a file of `src` may import. */
export function borderOf(path: string): readonly RegExp[] {
  if (path.startsWith('src/commands/')) return WORKERS_FOR_COMMANDS;
  if (path.startsWith('src/drafts/')) return WORKERS_FOR_DRAFTS;
  return path.startsWith('src/studio/') ? WORKERS_FOR_STUDIO : WORKERS_FOR_SRC;
}

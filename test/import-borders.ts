// Which folders may import from which, and what of the engine the parts of the HTTP process may use.

/** A folder may import from itself and from these. */
export const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  workers: [],
  src: ['workers'],
  bench: ['src', 'workers'],
  test: ['src', 'workers', 'bench'],
};

/** Of `workers`, the HTTP process may use the protocol, the Template's checker, the operation table and what they need. */
const WORKERS_FOR_SRC = [
  /^workers\/(?:built-files|bundles)\.ts$/,
  /^workers\/(?:plan|protocol|template)\//,
  /^workers\/operations\/(?:index|operation)\.ts$/,
  /^workers\/batch\/schema\.ts$/,
  /^workers\/memory\/(?:account-share|budget)\.ts$/,
  /^workers\/run\/report\.ts$/,
  /^workers\/watch\/watch-messages\.ts$/,
  /^workers\/thread\/core-share\.ts$/,
  /^workers\/kernel\/bindings\/kernel\.ts$/,
];

/** Commands over local files also use the engine in their own thread. */
const WORKERS_FOR_COMMANDS = [
  ...WORKERS_FOR_SRC,
  /^workers\/input\/index\.ts$/,
  /^workers\/memory\/collector\.ts$/,
  /^workers\/run\/(?:inspect|split)\.ts$/,
  /^workers\/thread\/thread\.ts$/,
  /^workers\/output\/(?:index|planned-output|sink\/output-turns)\.ts$/,
];

/** The studio tells its page what the language has. */
const WORKERS_FOR_STUDIO = [
  ...WORKERS_FOR_SRC,
  /^workers\/execution\/parameters\/base-parameters\.ts$/,
  /^workers\/expression\/functions\/index\.ts$/,
  /^workers\/watch\/column-profile\.ts$/,
];

/** A draft is read off the cells of a file. */
const WORKERS_FOR_DRAFTS = [
  ...WORKERS_FOR_SRC,
  /^workers\/input\/index\.ts$/,
  /^workers\/run\/inspect\.ts$/,
  /^workers\/values\/(?:date-pattern|normalise)\.ts$/,
];

/** What a file of `src` may import of `workers`. */
export function borderOf(path: string): readonly RegExp[] {
  if (path.startsWith('src/commands/')) return WORKERS_FOR_COMMANDS;
  if (path.startsWith('src/drafts/')) return WORKERS_FOR_DRAFTS;
  return path.startsWith('src/studio/') ? WORKERS_FOR_STUDIO : WORKERS_FOR_SRC;
}

// Commands of the pages that their test does not run, each with the reason.

export interface LeftOut {
  /** A whole command without its comment. */
  readonly command: RegExp;
  readonly reason: string;
}

const BUILDS = 'installs and builds the checkout that the test itself was built in';

export const LEFT_OUT: readonly LeftOut[] = [
  { command: /^npm ci && npm run build$/, reason: BUILDS },
  { command: /^npm ci && npm (?:run demo|test)$/, reason: `${BUILDS}, and takes minutes` },
  { command: /^npm run bench\b/, reason: 'measures for minutes, with peers that it fetches' },
  {
    command: /^template-run serve [^&]*--redis rediss:/,
    reason:
      'asks for a Redis with TLS and a folder of several machines; test/blackbox/fleet*.test.ts start nodes of a fleet',
  },
];

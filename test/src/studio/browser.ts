// Debian's Chromium, driven by playwright-core, for tests of pages. A test that finds none is skipped, with the reason.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import type { Test } from 'tap';

const CHROMIUM = '/usr/bin/chromium';

/** How long a condition of the page is waited for, in milliseconds: the machine may have much else to do. */
const PATIENCE_MILLISECONDS = 60_000;

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** False: there is a browser. Else why the tests are skipped. */
export const NO_BROWSER: string | false = existsSync(CHROMIUM) ? false : `${CHROMIUM} is not installed`;

export interface Opened {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Messages of the console, faults of the page and requests to other hosts: none is wanted. */
  readonly troubles: readonly string[];
}

/** @param ready what is there once the page can be used: a cell of the studio's grid unless told otherwise */
export async function openPage(
  t: Test,
  address: string,
  colorScheme: 'light' | 'dark' = 'light',
  ready = '.grid [role=gridcell]',
): Promise<Opened> {
  const profile = mkdtempSync(join(tmpdir(), 'template-run-browser-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: CHROMIUM,
    headless: true,
    args: FLAGS,
    viewport: { width: 1280, height: 800 },
    colorScheme,
    reducedMotion: 'reduce',
    timeout: PATIENCE_MILLISECONDS,
  });
  t.teardown(async () => {
    await context.close();
    rmSync(profile, { recursive: true, force: true });
  });
  context.setDefaultTimeout(PATIENCE_MILLISECONDS);
  const page = context.pages()[0] ?? (await context.newPage());
  const troubles: string[] = [];
  const { origin } = new URL(address);
  page.on('console', (message) => troubles.push(`console: ${message.text()}`));
  page.on('pageerror', (error) => troubles.push(`fault: ${error.message}`));
  context.on('request', (request) => {
    // What stands in a style sheet itself is asked of nobody.
    const isInline = request.url().startsWith('data:');
    if (!isInline && !request.url().startsWith(`${origin}/`)) troubles.push(`request: ${request.url()}`);
  });
  await page.goto(address);
  await page.locator(ready).first().waitFor();
  return { page, context, troubles };
}

/** What axe-core finds on the page as it stands: the rule, and where it is broken. */
export async function axeFindings(
  page: Page,
): Promise<readonly (readonly [rule: string, places: readonly string[]])[]> {
  const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  // By the debugger, as the page's policy lets no script in.
  await page.evaluate(axe);
  const found = (await page.evaluate('axe.run()')) as {
    readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[];
  };
  return found.violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html.slice(0, 200))]);
}

// Debian's Chromium, driven by playwright-core, for tests of pages. Without Chromium, these tests are skipped, with the reason.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import tap, { type Test } from 'tap';

const CHROMIUM = '/usr/bin/chromium';

/** Maximum time for an action, a navigation or a condition of the page, in milliseconds: a busy machine takes minutes. */
const PATIENCE_MILLISECONDS = 240_000;

/** Minimum time limit of a file with browser tests, in milliseconds: several of its waits may be long. */
const FILE_MILLISECONDS_MIN = 1_800_000;

/** Time for a tooltip to appear, before the mouse points at its error again. */
const TOOLTIP_MILLISECONDS = 20_000;

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
  readonly problems: readonly string[];
}

/** @param ready selector of an element of the page when it can be used; default: a cell of the studio's grid */
export async function openPage(
  t: Test,
  address: string,
  colorScheme: 'light' | 'dark' = 'light',
  ready = '.grid [role=gridcell]',
): Promise<Opened> {
  tap.setTimeout(Math.max(tap.options.timeout ?? 0, FILE_MILLISECONDS_MIN));
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
    // Processes of the browser may write for a moment after it has closed, so that a folder is not empty.
    rmSync(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  });
  context.setDefaultTimeout(PATIENCE_MILLISECONDS);
  const page = context.pages()[0] ?? (await context.newPage());
  const problems: string[] = [];
  const { origin } = new URL(address);
  page.on('console', (message) => problems.push(`console: ${message.text()}`));
  page.on('pageerror', (error) => problems.push(`fault: ${error.message}`));
  context.on('request', (request) => {
    // Data URLs in a style sheet are not requests.
    const isInline = request.url().startsWith('data:');
    if (!isInline && !request.url().startsWith(`${origin}/`)) problems.push(`request: ${request.url()}`);
  });
  await page.goto(address);
  await page.locator(ready).first().waitFor();
  return { page, context, problems };
}

/** Returns the findings of axe-core on the current page: the rule, and the element that breaks it. */
export async function axeFindings(
  page: Page,
): Promise<readonly (readonly [rule: string, places: readonly string[]])[]> {
  const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  // Evaluated by the debugger, because the page's policy allows no script.
  await page.evaluate(axe);
  const found = (await page.evaluate('axe.run()')) as {
    readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[];
  };
  return found.violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html.slice(0, 200))]);
}

/** Clicks a correction in the text. The tooltip of an error closes when the text is checked again. Then the mouse has to point at the error again. */
export async function clickFix(page: Page, name: string): Promise<void> {
  const fix = page.getByRole('button', { name });
  for (;;) {
    await page.locator('.cm-lintRange-error').first().hover();
    const isShown = await fix.waitFor({ timeout: TOOLTIP_MILLISECONDS }).then(
      () => true,
      () => false,
    );
    if (isShown) return fix.click();
    await page.locator('header').hover();
  }
}

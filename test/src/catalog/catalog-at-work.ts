// Shared by tests of reloading: a small valid catalog, a checker of Templates that can be paused, and a store on both.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { KEY_SCOPES } from '../../../src/catalog/catalog.ts';
import { type CatalogEvent, CatalogStore } from '../../../src/catalog/catalog-store.ts';
import type { CheckTemplate } from '../../../src/catalog/template-checker.ts';

export const DIGEST = '0'.repeat(64);
export const KEY = { id: '1', sha256: DIGEST, scopes: KEY_SCOPES, created_at: '2026-01-31T00:00:00Z' };
export const ACCOUNT = {
  subscription: { plan: 'starter', status: 'active', started_at: '2026-01-31T00:00:00Z' },
  keys: [KEY],
};
export const SOUND = {
  'plans.json': { starter: {} },
  'accounts/acme.json': ACCOUNT,
  'accounts/bare.json': {},
  'templates/acme/a.json': 'a',
  'templates/acme/b.json': 'b',
  'tables/acme/t.csv': 'id\n1\n',
};

export function write(directory: string, files: Readonly<Record<string, unknown>>): string {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), typeof content === 'string' ? content : JSON.stringify(content));
  }
  return directory;
}

/** Records the checked texts. Refuses texts that contain "bad", and waits with "slow" until the test continues. */
export class Checker {
  readonly asked: string[] = [];
  letGo: () => void = () => {};
  readonly check: CheckTemplate<string> = async (source) => {
    this.asked.push(source);
    if (source.startsWith('slow')) await new Promise<void>((resolve) => (this.letGo = resolve));
    if (source.includes('bad')) return { problems: [{ pointer: '', line: null, column: null, message: 'is bad.' }] };
    return { template: { name: source, description: null, outputFormat: 'csv', checked: source } };
  };

  /** Returns the texts that were checked since the last call. */
  take(): string[] {
    return this.asked.splice(0).sort();
  }
}

export async function open(directory: string): Promise<{
  readonly store: CatalogStore<string>;
  readonly checker: Checker;
  readonly events: CatalogEvent[];
}> {
  const checker = new Checker();
  const events: CatalogEvent[] = [];
  const store = await CatalogStore.open(directory, {
    checkTemplate: checker.check,
    log: (event) => events.push(event),
  });
  return { store, checker, events };
}

export async function until(holds: () => boolean): Promise<boolean> {
  for (let turn = 0; turn < 9600 && !holds(); turn += 1) await sleep(25);
  return holds();
}

export const problemsIn = (event: CatalogEvent | undefined): string =>
  event?.event === 'catalog_refused' ? event.problems.join('\n') : `${event?.event}`;

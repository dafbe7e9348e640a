// What a catalog says, in one word: nodes that stand beside each other are to say the same.
import { createHash } from 'node:crypto';
import type { Account, Catalog } from './catalog.ts';

/** Hex digits: enough to tell two of a handful from each other. */
const DIGEST_DIGITS = 16;

/** Of each snapshot: it is worked out once. */
export class CatalogDigests {
  readonly #known = new WeakMap<Catalog<unknown>, string>();

  of(catalog: Catalog<unknown>): string {
    const known = this.#known.get(catalog);
    if (known !== undefined) return known;
    const hash = createHash('sha256');
    for (const id of [...catalog.accounts.keys()].sort()) {
      hash.update(JSON.stringify(meaningOf(catalog.accounts.get(id)!)));
    }
    const digest = hash.digest('hex').slice(0, DIGEST_DIGITS);
    this.#known.set(catalog, digest);
    return digest;
  }
}

/** Without paths and versions of files, which are those of one machine. */
function meaningOf({ id, name, active, subscription, keys, templates, tables, secrets }: Account): unknown {
  return [
    id,
    name,
    active,
    subscription,
    keys.map(({ scopes, ...key }) => ({ ...key, scopes: [...scopes].sort() })),
    [...templates].map(([template, { sha256 }]) => [template, sha256]),
    [...tables].map(([table, { sha256 }]) => [table, sha256]).sort(),
    [...secrets].sort(),
  ];
}

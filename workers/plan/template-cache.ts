// Checked Templates of one thread by the SHA-256 of their text: a thread checks a Template once, not once per Run.
import { createRequire } from 'node:module';
import type { LRUMap } from 'mnemonist';
import type { TemplateText } from '../template/template-text.ts';
import { checkTemplate } from './check-template.ts';
import { PreparedTemplate } from './prepared-template.ts';

/** Templates kept, the least recently used goes first: a checked Template with its plans is some 30 KiB. */
const TEMPLATES_MAX = 256;

/** The one file of the library that is needed: all ninety took each process and thread 15 MB and 110 ms. */
const LeastRecentlyUsed = createRequire(import.meta.url)('mnemonist/lru-map') as typeof LRUMap;

export class TemplateCache {
  readonly #templates = new LeastRecentlyUsed<string, PreparedTemplate>(TEMPLATES_MAX);

  /** @throws when the text has problems: whoever sends a task has checked it before */
  get(text: TemplateText): PreparedTemplate {
    const known = this.#templates.get(text.sha256);
    if (known !== undefined) return known;
    const checked = checkTemplate(text.source, text.format, { schemaChecked: true });
    if (!('template' in checked)) throw new Error('a task came with a Template that has problems');
    const prepared = new PreparedTemplate(checked.template);
    this.#templates.set(text.sha256, prepared);
    return prepared;
  }
}

// Checked Templates of one thread by the SHA-256 of their text: a thread checks a Template once, not once per Run.
import { checkTemplate } from './check.ts';
import type { Template } from './template.ts';

/** Templates kept, the least recently used goes first: a checked Template is some 10 KiB. */
const TEMPLATES_MAX = 256;

export class TemplateCache {
  readonly #templates = new Map<string, Template>();

  /** @throws when the text has problems: whoever sends a task has checked it before */
  get(text: { readonly source: string; readonly format: 'json' | 'yaml'; readonly sha256: string }): Template {
    const known = this.#templates.get(text.sha256);
    if (known !== undefined) {
      this.#templates.delete(text.sha256);
      this.#templates.set(text.sha256, known);
      return known;
    }
    const checked = checkTemplate(text.source, text.format, { schemaChecked: true });
    if (!('template' in checked)) throw new Error('a task came with a Template that has problems');
    this.#templates.set(text.sha256, checked.template);
    if (this.#templates.size > TEMPLATES_MAX) this.#templates.delete(this.#templates.keys().next().value!);
    return checked.template;
  }
}

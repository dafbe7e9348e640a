// What the checker said of the Templates of the last loading, sound or not: a text that is still there is not checked again
// with the next one, though the catalog was refused in between.
import { createHash } from 'node:crypto';
import type { TemplateText } from '../../workers/template/template-text.ts';
import type { CheckTemplate, TemplateCheck, TemplateContext } from './template-checker.ts';

export class TemplateVerdicts<Checked> {
  #known = new Map<string, TemplateCheck<Checked>>();
  #used = new Map<string, TemplateCheck<Checked>>();
  /** Digests of the names that a Template may refer to, by the set of secrets, of which each account has its own. */
  readonly #names = new WeakMap<object, string>();

  async of(
    { source, format, sha256 }: TemplateText,
    context: TemplateContext,
    checkTemplate: CheckTemplate<Checked>,
  ): Promise<TemplateCheck<Checked>> {
    const key = `${sha256} ${format} ${context.account} ${context.templateId} ${this.#namesOf(context)}`;
    const verdict = this.#used.get(key) ?? this.#known.get(key) ?? (await checkTemplate(source, format, context));
    if (!('problems' in verdict && verdict.isPassing === true)) this.#used.set(key, verdict);
    return verdict;
  }

  /** At the end of a loading: what nobody asked for since the last one is forgotten. */
  keepUsed(): void {
    this.#known = this.#used;
    this.#used = new Map();
  }

  #namesOf({ tables, secrets }: TemplateContext): string {
    const known = this.#names.get(secrets);
    if (known !== undefined) return known;
    const names = createHash('sha256')
      .update(JSON.stringify([[...tables.keys()], [...secrets]]))
      .digest('hex');
    this.#names.set(secrets, names);
    return names;
  }
}

// The form of a step, or of a section such as `input`: what it edits, the values so far, and the text that it would
// write. Apply makes that text the text of the page.
import { batch, computed, type ReadonlySignal, signal } from '@preact/signals';
import type { ColumnValues, LanguageForm, ReadOperation } from '../studio-answers.ts';
import { AskError, ask } from './ask.ts';
import { completed, missingProperties } from './form-model.ts';
import type { Step } from './menu-entries.ts';
import { flowText, type Parameters, withOperation, withParameters, withSection } from './operation-edits.ts';
import { operationList } from './operation-list.ts';
import type { Studio } from './studio.ts';

/** Share of a column's values that must be in the table, so that the form proposes the column. */
const SHARE_MIN = 0.5;

export interface OpenForm {
  /** The operation or the section. */
  readonly subject: LanguageForm;
  /** Index in the list of operations: of the edited step, or of the step that is added. Null: a section. */
  readonly item: number | null;
  /** Number of the step whose rows the form is about. */
  readonly step: number;
  /** Parameters of the edited step or section; null: the step is added. */
  readonly before: Parameters | null;
  /** The section `tables`, with a table that Apply declares; null: the step needs none. */
  readonly tables: { readonly before: Parameters; readonly after: Parameters } | null;
  /** Text of the edited step, or of the one before the added step. If it changes, Apply could write to a wrong place. */
  readonly anchor: string | null;
}

export class StepForm {
  readonly #studio: Studio;
  /** True while the list of operations is shown, of which one is chosen for a new step. */
  readonly isPicking = signal(false);
  readonly open = signal<OpenForm | null>(null);
  readonly values = signal<Parameters>({});
  /** Chosen group of alternative parameters; null: the one that the values belong to. */
  readonly group = signal<number | null>(null);
  /** Reasons why inputs have no value, by their place in the form. */
  readonly mistakes = signal<ReadonlyMap<string, string>>(new Map());
  readonly missing: ReadonlySignal<readonly string[]> = computed(() => {
    const open = this.open.value;
    if (open === null) return [];
    return missingProperties(open.subject.form, this.values.value, this.group.value ?? undefined);
  });
  /** Step to choose again if the form is closed without a change. */
  #stepBefore = 0;
  /** Number of requests for a step of the text. Only the answer to the last one is shown. */
  #edits = 0;

  constructor(studio: Studio) {
    this.#studio = studio;
  }

  pick(): void {
    this.close();
    this.isPicking.value = true;
  }

  /** Opens the form of a new step, which follows the chosen step. */
  add(name: string, values: Parameters = {}, tables: OpenForm['tables'] = null): void {
    const subject = this.#studio.language.operations.find((operation) => operation.name === name);
    if (subject === undefined) return;
    const { item, step } = this.#studio.placeOfNewStep();
    this.#show({ subject, item, step, before: null, tables }, values);
  }

  /** Opens the form of a step that is written as in a Template. */
  addStep(step: Step): void {
    const [[name, values]] = Object.entries(step) as [[string, Parameters]];
    this.add(name, values);
  }

  /** Opens the form that joins a file, with a guess of the columns that must be equal. */
  async join(file: File): Promise<void> {
    const table = await this.#studio.addTable(file);
    const tables = table === null ? null : await this.#tablesWith(table.name);
    if (table === null || tables === null) return;
    const { chosen, watched, step } = this.#studio;
    const profiles = watched.value?.profiledStep === step.value ? watched.value.profiles : [];
    const columns = (chosen.value?.columns ?? []).map(({ name }, index) => {
      return { name, values: (profiles[index]?.frequent ?? []).map(({ text }) => text) };
    });
    this.add('join', { table: table.name, on: joinedOn(columns, table.columns) }, tables);
  }

  /** A Template declares the tables that it uses. @returns null if the declaration must be written by hand */
  async #tablesWith(name: string): Promise<OpenForm['tables']> {
    const { text, file, message } = this.#studio;
    const source = text.value;
    try {
      const { parameters } = await ask<ReadOperation>('POST /api/section', { source, section: 'tables' });
      const after = Object.hasOwn(parameters, name) ? parameters : { ...parameters, [name]: { ref: name } };
      if (withSection(source, file.format, 'tables', parameters, after) !== null) return { before: parameters, after };
      message.value = `Write into the text: tables: {${name}: {ref: ${name}}}`;
    } catch (error) {
      message.value = error instanceof AskError ? error.message : 'The studio does not answer. Is it still running?';
    }
    return null;
  }

  /** Opens the form of a step of the text. */
  async edit(item: number, step: number): Promise<void> {
    await this.#edit('POST /api/operation', { item }, { forms: this.#studio.language.operations, item, step });
  }

  /** Opens the form of a section of the text, `input` or `output`. */
  async editSection(section: string): Promise<void> {
    const { language, watched } = this.#studio;
    const step = section === 'input' ? 0 : Math.max(0, (watched.value?.steps.length ?? 0) - 1);
    await this.#edit('POST /api/section', { section }, { forms: language.sectionForms, item: null, step });
  }

  /**
   * Opens the form of the input with another header.
   * @param headers its texts, if they are known
   * @param lines whose texts are joined; the record is the last one
   */
  async useHeader(record: number, headers: readonly (string | null)[], lines: number): Promise<void> {
    await this.editSection('input');
    if (this.open.value?.subject.name !== 'input') return;
    const { columns, csv, ...others } = this.values.value;
    const { header_rows: _, ...settings } = (csv ?? {}) as Parameters;
    const declared = (Array.isArray(columns) ? columns : []) as readonly { readonly match?: readonly unknown[] }[];
    // Columns that were declared for the headers before would all be missing.
    const isFound = declared.some(({ match = [] }) => match.some((header) => headers.includes(header as string)));
    const header = { header_row: record, ...(lines > 1 && { header_rows: lines }) };
    this.change({ ...others, ...(isFound ? { columns } : {}), csv: { ...settings, ...header } });
  }

  async #edit(
    route: string,
    place: object,
    { forms, item, step }: Pick<OpenForm, 'item' | 'step'> & { readonly forms: readonly LanguageForm[] },
  ): Promise<void> {
    const { text, message } = this.#studio;
    const source = text.value;
    const asked = ++this.#edits;
    try {
      const read = await ask<ReadOperation>(route, { source, ...place });
      // In a changed text, the item may be another step.
      if (asked !== this.#edits || text.value !== source) return;
      const subject = forms.find(({ name }) => name === read.name);
      const { parameters: before } = read;
      if (subject !== undefined) this.#show({ subject, item, step, before, tables: null }, before);
    } catch (error) {
      message.value = error instanceof AskError ? error.message : 'The studio does not answer. Is it still running?';
    }
  }

  change(values: Parameters, group = this.group.value): void {
    batch(() => {
      this.values.value = values;
      this.group.value = group;
    });
    this.#preview();
  }

  /** Notes why an input has no value; null: it has one. */
  note(place: string, mistake: string | null): void {
    if ((this.mistakes.value.get(place) ?? null) === mistake) return;
    const mistakes = new Map(this.mistakes.value);
    if (mistake === null) mistakes.delete(place);
    else mistakes.set(place, mistake);
    this.mistakes.value = mistakes;
  }

  /** The text that Apply writes; null: something is missing, or the form cannot write it. */
  get written(): string | null {
    const open = this.open.value;
    if (open === null || this.missing.value.length > 0 || this.mistakes.value.size > 0 || this.isOutdated) return null;
    const { text, file } = this.#studio;
    const { subject, item, before, tables } = open;
    const values = completed(subject.form, this.values.value, this.group.value ?? undefined);
    if (item === null) return withSection(text.value, file.format, subject.name, before ?? {}, values);
    if (before !== null) return withParameters(text.value, file.format, item, before, values);
    const added = withOperation(text.value, file.format, item, subject.name, values);
    if (added === null || tables === null) return added;
    return withSection(added, file.format, 'tables', tables.before, tables.after);
  }

  /** True if the text has changed where the form would write. */
  get isOutdated(): boolean {
    const open = this.open.value;
    return open !== null && open.anchor !== anchorIn(this.#studio.text.value, open);
  }

  /** Takes back the last change. An open form belongs to the text before, so it is closed. */
  undo(): void {
    this.close();
    this.#studio.undo();
  }

  redo(): void {
    this.close();
    this.#studio.redo();
  }

  /** Goes to a version of the history. */
  goTo(index: number): void {
    this.close();
    this.#studio.goTo(index);
  }

  apply(): void {
    const { written } = this;
    const open = this.open.value;
    if (written === null || open === null) return;
    batch(() => {
      this.#close();
      this.#studio.preview.value = null;
      this.#studio.write(written, labelOf(open, this.values.value));
      this.#studio.choose(open.step);
    });
  }

  /** Replaces the text with a draft of the sample, which is read with the settings of the form. */
  async draft(): Promise<void> {
    const { text, message } = this.#studio;
    const [settings, before] = [this.values.value, text.value];
    this.close();
    message.value = 'A new draft is being made…';
    try {
      const { source } = await ask<{ readonly source: string }>('POST /api/draft', { settings });
      if (text.value !== before) {
        message.value = 'The text changed while the draft was made. Make the draft again.';
        return;
      }
      batch(() => {
        this.#studio.write(source, 'New draft');
        this.#studio.choose(operationList(source).items.filter(({ isOff }) => !isOff).length);
      });
      message.value = 'The text is a new draft. Undo brings the previous text back.';
    } catch (error) {
      message.value = error instanceof AskError ? error.message : 'The studio does not answer. Is it still running?';
    }
  }

  /** Closes the form, or the list of operations, without a change. */
  close(): void {
    const isOpen = this.open.value !== null;
    this.#close();
    if (isOpen) this.#studio.showPreview(null, this.#stepBefore);
  }

  #close(): void {
    batch(() => {
      this.isPicking.value = false;
      this.open.value = null;
      this.mistakes.value = new Map();
      this.group.value = null;
    });
  }

  #show(place: Omit<OpenForm, 'anchor'>, values: Parameters): void {
    const open = { ...place, anchor: anchorIn(this.#studio.text.value, place) };
    if (this.open.value === null) this.#stepBefore = this.#studio.step.value;
    batch(() => {
      this.#close();
      this.#studio.closeDetails();
      this.open.value = open;
      this.values.value = values;
    });
    this.#preview();
  }

  #preview(): void {
    const open = this.open.value;
    const { written } = this;
    if (open === null) return;
    // Until the form is complete, the rows before the step are shown.
    const isNew = open.before === null;
    if (written === null) this.#studio.showPreview(null, isNew ? open.step - 1 : open.step);
    else this.#studio.showPreview(written, open.step);
  }
}

/** Text of the edited step, or of the step before the added one. Null if there is none, or if a section is edited. */
function anchorIn(text: string, { item, before }: Pick<OpenForm, 'item' | 'before'>): string | null {
  const node = item === null ? undefined : operationList(text).items[before === null ? item - 1 : item]?.node;
  return node === undefined ? null : text.slice(node.from, node.to);
}

/**
 * The columns with the same name, or else the two that have the most values in common, or else no column of the rows:
 * a wrong one would match no row.
 */
export function joinedOn(left: readonly ColumnValues[], right: readonly ColumnValues[]): unknown {
  const plain = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
  for (const { name } of left) {
    const same = right.find((other) => plain(other.name) === plain(name));
    if (same !== undefined) return same.name === name ? name : [{ left: name, right: same.name }];
  }
  const keys = right.filter(({ values }) => values.length > 0 && new Set(values).size === values.length);
  let best = { left: '', right: (keys[0] ?? right[0])?.name ?? '', share: 0 };
  for (const key of keys) {
    const known = new Set(key.values);
    for (const { name, values } of left) {
      const share = values.filter((value) => known.has(value)).length / values.length;
      // Of columns with few values in common, most rows would have no match.
      if (share >= SHARE_MIN && share > best.share) best = { left: name, right: key.name, share };
    }
  }
  return [{ left: best.left, right: best.right }];
}

/** Names the change in the history, such as "Add filter amount > 3". */
function labelOf({ subject, item, before }: OpenForm, values: Parameters): string {
  if (item === null) return `Edit ${subject.name}`;
  return `${before === null ? 'Add' : 'Edit'} ${subject.name} ${subjectOf(flowText(values, 'yaml'))}`.trimEnd();
}

function subjectOf(written: string): string {
  return operationList(`operations: [{x: ${written}}]`).items[0]?.subject ?? '';
}

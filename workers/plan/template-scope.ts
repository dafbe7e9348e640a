// The one implementation of Scope: names, ids and types of the columns from step to step. It knows two modes: checking
// a Template alone (open: unknown names are noted as reads of the file) and planning a Run (closed: the file's columns).
import type { Column, ColumnType } from '../batch/schema.ts';
import { ColumnPatterns, type CompiledPattern } from '../template/column-pattern.ts';
import { pointerSegment } from '../template/pointer.ts';
import type { ColumnPosition, ColumnSet, RunFact, Scope } from '../template/scope.ts';
import { limitedSuggestions } from '../template/suggestion.ts';
import type { IfMissing } from '../template/template.ts';
import type { ScopeStart } from './scope-start.ts';

/** Columns that a Template may have at one step: as many as a file. */
const COLUMNS_MAX = 16_384;
const TOO_MANY = `A Template has at most ${COLUMNS_MAX} columns at a step.`;
const NO_TABLES: Scope['tables'] = new Map();

export class TemplateScope implements Scope {
  /** Names of the file's columns that operations read, with the strictest `if_missing` of them. */
  readonly reads = new Map<string, IfMissing>();
  /** Names read that the file's columns must bear after a rename by pattern or style. */
  readonly derivedReads = new Map<string, IfMissing>();
  readonly uses = new Set<RunFact>();
  readonly #start: ScopeStart;
  readonly #fileNames = new Map<number, string>();
  readonly #absent = new Set<number>();
  readonly #byName = new Map<string, Column>();
  /** What became of names that were there once. */
  readonly #gone = new Map<string, string>();
  readonly #flagId: number;
  readonly #patterns: ColumnPatterns;
  #columns: Column[] = [];
  /** What of them is not true any more: some types, or which there are. */
  #stale: 'nothing' | 'types' | 'columns' = 'nothing';
  #closed: boolean;
  /** The operation at hand took columns unnamed. */ ranged = false;
  /** The last columns are still to be named by rows. */ endsUnknown = false;
  #unknownRenamed = false;
  #nextId = 0;
  readonly suggest = limitedSuggestions();
  #step: Parameters<TemplateScope['begin']>[0] = { label: 'output', ifMissing: 'fail' };

  constructor(start: ScopeStart) {
    this.#start = start;
    this.#patterns = start.patterns ?? new ColumnPatterns();
    this.#closed = !start.open;
    for (const { name, absent, hasKinds } of start.columns) {
      const column = this.#append(name, 'text', this.#columns.length, hasKinds);
      this.#fileNames.set(column.id, name);
      if (absent) this.#absent.add(column.id);
    }
    this.#flagId = start.flagColumn === null ? -1 : this.#append(start.flagColumn, 'text', this.#columns.length).id;
  }

  /** The operation at hand: how it is called in messages, and its `if_missing`. */
  begin(step: { readonly label: string; readonly ifMissing: IfMissing }): void {
    this.#step = step;
    this.ranged = false;
  }

  /** After an operation that is broken itself nobody knows the columns: later names are taken as they come. */
  forgive(): void {
    this.#closed = false;
    this.#gone.clear();
    this.#unknownRenamed = true;
  }

  get columns(): readonly Column[] {
    if (this.#stale !== 'nothing') {
      const now = this.#columns.map(({ name, id }) => ({ id, column: this.#byName.get(name) }));
      this.#columns = now.flatMap(({ id, column }) => (column?.id === id ? [column] : []));
      this.#stale = 'nothing';
    }
    return this.#columns;
  }

  /** In their order; types may be old ones. Types and new columns that take turns would else cost the square of their number. */
  get #places(): readonly Column[] {
    return this.#stale === 'columns' ? this.columns : this.#columns;
  }

  get flagColumn(): Column | null {
    return this.columns.find(({ id }) => id === this.#flagId) ?? null;
  }

  get closed(): boolean {
    return this.#closed;
  }

  read(name: string, pointer: string): Column | null {
    const column = this.#byName.get(name);
    if (column === undefined) return this.#readUnknown(name, pointer);
    const fileName = this.#fileNames.get(column.id);
    if (fileName !== undefined) this.#note(this.reads, fileName);
    return this.#step.ifMissing === 'skip' && this.#absent.has(column.id) ? null : column;
  }

  readonly note = (pointer: string, message: string): void => this.#start.note?.(pointer, message);

  readonly known = (name: string): Column | null => this.#byName.get(name) ?? null;

  isPresent({ id }: Column): boolean {
    return !this.#absent.has(id);
  }

  resolve(set: ColumnSet, pointer: string): readonly Column[] {
    if (typeof set === 'string' && set !== '*') return this.#readAll([set], () => pointer);
    if (Array.isArray(set)) return this.#readAll(set, (index) => `${pointer}/${index}`);
    this.ranged = true;
    const chosen = this.#range(set as Exclude<ColumnSet, readonly string[]>, pointer);
    const passed = this.#step.ifMissing === 'skip' ? this.#absent : null;
    return this.columns.filter((column) => column.id !== this.#flagId && !passed?.has(column.id) && chosen(column));
  }

  add(name: string, type: ColumnType, pointer: string, place?: ColumnPosition, hasKinds?: true): Column {
    const taken = this.#byName.get(name);
    if (taken !== undefined) {
      const message = `The column ${JSON.stringify(name)} exists already at this step.`;
      this.#start.problem(pointer, 'COLUMN_EXISTS', message, name);
      return taken;
    }
    const at = place === undefined ? -1 : this.#places.findIndex(({ id }) => id === place.column.id);
    if (this.#start.open && this.#places.length === COLUMNS_MAX) this.problem(pointer, 'TOO_MANY_COLUMNS', TOO_MANY);
    return this.#append(name, type, at < 0 ? this.#endIndex() : at + (place?.side === 'behind' ? 1 : 0), hasKinds);
  }

  retype(column: Column, type: ColumnType, hasKinds?: true): void {
    const current = this.#byName.get(column.name);
    if (current?.id !== column.id) throw new Error('retype of a column that is not there');
    this.#byName.set(column.name, { id: current.id, name: current.name, type, ...(hasKinds && { hasKinds }) });
    if (this.#stale === 'nothing') this.#stale = 'types';
  }

  remove(column: Column): void {
    if (column.id === this.#flagId) {
      this.problem('', 'FLAG_COLUMN', 'The flag column stays to the end. Leave it out in output.columns.');
      return;
    }
    if (this.#byName.get(column.name)?.id !== column.id) return;
    this.#byName.delete(column.name);
    this.#gone.set(column.name, `It was removed by ${this.#step.label}.`);
    this.#stale = 'columns';
  }

  rename(names: ReadonlyMap<Column, string>, pointer: string): void {
    const moves = [...names].filter(([column, name]) => column.name !== name);
    if (!this.#mayRename(moves, pointer)) return;
    const renamed = new Map(moves.map(([column, name]) => [column.id, name]));
    this.#columns = this.columns.map((column) => {
      const name = renamed.get(column.id);
      return name === undefined ? column : { ...column, name };
    });
    for (const [{ name }, now] of moves) {
      this.#byName.delete(name);
      this.#gone.set(name, `It is called ${JSON.stringify(now)} since ${this.#step.label}.`);
    }
    for (const column of this.#columns) {
      if (!renamed.has(column.id)) continue;
      this.#byName.set(column.name, column);
      this.#gone.delete(column.name);
    }
  }

  get tables(): Scope['tables'] {
    return this.#start.tables ?? NO_TABLES;
  }

  get variables(): Scope['variables'] {
    return this.#start.variables ?? new Map();
  }

  /** As after a rename of them, nobody knows whether a name is the file's. */
  addUnknown(): void {
    this.#unknownRenamed = true;
    this.#closed = !this.#start.open;
    this.#gone.clear();
  }

  columnsOfRows(): readonly string[] | null {
    const names = this.#start.rowNames ?? null;
    if (names !== null) return names;
    this.addUnknown();
    this.endsUnknown = true;
    return null;
  }

  renameUnknown(): void {
    this.#unknownRenamed = true;
  }

  arrange(columns: readonly Column[], options: { readonly rest: boolean }): void {
    const listed = new Set(columns.map(({ id }) => id));
    const others = this.columns.filter(({ id }) => !listed.has(id) && id !== this.#flagId);
    const flag = this.columns.filter(({ id }) => id === this.#flagId);
    const known = new Map(this.columns.map((column) => [column.id, column]));
    const first = [...listed].filter((id) => id !== this.#flagId).map((id) => known.get(id)!);
    if (!options.rest) {
      for (const column of others) this.remove(column);
      if (!this.ranged) this.#closed = true;
    }
    this.#columns = [...first, ...(options.rest ? others : []), ...flag];
    this.#stale = 'nothing';
  }

  compilePattern(source: string): CompiledPattern {
    return this.#patterns.compile(source);
  }

  close(): void {
    this.#closed = true;
  }

  problem(pointer: string, code: string, message: string): void {
    this.#start.problem(pointer, code, message);
  }

  #readAll(names: readonly string[], pointer: (index: number) => string): Column[] {
    const read = names.map((name, index) => this.read(name, pointer(index)));
    return [...new Set(read.filter((column) => column !== null))];
  }

  #range(set: Exclude<ColumnSet, readonly string[]>, pointer: string): (column: Column) => boolean {
    if (typeof set === 'string') return () => true;
    if ('type' in set) return ({ type }) => type === set.type;
    if ('except' in set) {
      for (const [index, name] of set.except.entries()) {
        if (this.#closed && this.#start.open && !this.#byName.has(name))
          this.#missing(name, `${pointer}/except/${index}`);
      }
      const excepted = new Set(set.except);
      return ({ name }) => !excepted.has(name);
    }
    const pattern = this.compilePattern(set.pattern);
    if ('problem' in pattern) {
      this.problem(`${pointer}/${pointerSegment('pattern')}`, 'BAD_PATTERN', pattern.problem);
      return () => false;
    }
    return ({ name }) => pattern.test(name);
  }

  /** Open: a column that the file must have. Closed: a mistake of the Template, or, in a Run, a lack of the file. */
  #readUnknown(name: string, pointer: string): Column | null {
    if (!this.#start.open) {
      this.#note(this.derivedReads, name);
      return null;
    }
    if (this.#closed || this.#gone.has(name)) {
      this.#missing(name, pointer);
      return null;
    }
    this.#note(this.#unknownRenamed ? this.derivedReads : this.reads, name);
    const column = this.#append(name, 'text', this.#endIndex());
    if (!this.#unknownRenamed) this.#fileNames.set(column.id, name);
    return column;
  }

  #missing(name: string, pointer: string): void {
    const reason = this.#gone.get(name);
    const others = () => this.columns.flatMap((column) => (column.id === this.#flagId ? [] : [column.name]));
    const hint = reason === undefined ? this.suggest(name, others) : ` ${reason}`;
    this.problem(pointer, 'UNKNOWN_COLUMN', `The column ${JSON.stringify(name)} does not exist at this step.${hint}`);
  }

  #note(reads: Map<string, IfMissing>, name: string): void {
    const mode = this.#step.ifMissing;
    const known = reads.get(name);
    if (known === undefined || mode === 'fail' || (mode === 'null' && known === 'skip')) reads.set(name, mode);
  }

  #mayRename(moves: readonly (readonly [Column, string])[], pointer: string): boolean {
    const moved = new Set(moves.map(([{ id }]) => id));
    const targets = new Set<string>();
    for (const [column, name] of moves) {
      const holder = this.#byName.get(name);
      const taken = targets.has(name) || (holder !== undefined && !moved.has(holder.id));
      targets.add(name);
      if (column.id === this.#flagId) {
        this.problem(pointer, 'FLAG_COLUMN', 'The flag column keeps its name. Set it with defaults.flag_column.');
        return false;
      }
      if (!taken) continue;
      const message = `Two columns would be called ${JSON.stringify(name)}. Give each its own name.`;
      this.#start.problem(pointer, 'COLUMN_EXISTS', message, name);
      return false;
    }
    return true;
  }

  #endIndex(): number {
    const { length } = this.#places;
    return length > 0 && this.#columns[length - 1]!.id === this.#flagId ? length - 1 : length;
  }

  #append(name: string, type: ColumnType, at: number, hasKinds?: true): Column {
    const column: Column = { id: this.#nextId++, name, type, ...(hasKinds && { hasKinds }) };
    if (at === this.#columns.length) this.#columns.push(column);
    else this.#columns.splice(at, 0, column);
    this.#byName.set(name, column);
    this.#gone.delete(name);
    return column;
  }
}

// Implementation of Scope: names, ids and types of the columns from step to step.

import type { Column, ColumnType } from '../batch/schema.ts';
import { PAUSE, type Sliced, type Slices } from '../scheduling/time-slices.ts';
import { limitedSuggestions } from '../values/suggestion.ts';
import { ColumnPatterns, type CompiledPattern } from './column-pattern.ts';
import type { FirstColumn } from './file-columns.ts';
import type { ColumnPosition, ColumnSet, RunFact, Scope, SetNeed } from './scope.ts';
import { pointerSegment } from './source-node.ts';
import type { IfMissing } from './template.ts';

// Initial state of a scope: the columns of the file, or the file columns that a Template names.

interface ScopeStart {
  readonly columns: readonly FirstColumn[];
  /** Name of the flag column, which is the last column from the start; null if no operation flags rows. */
  readonly flagColumn: string | null;
  /** True while a Template is checked: the file may have further columns. */
  readonly open: boolean;
  /** Patterns of the Template; a new collection if absent. */
  readonly patterns?: ColumnPatterns;
  /** See Scope. No tables if absent. */
  readonly tables?: Scope['tables'];
  /** See Scope. No types if absent. */
  readonly tableTypes?: Scope['tableTypes'];
  /** See Scope. Notes are ignored if absent. */
  note?(pointer: string, message: string): void;
  readonly variables?: Scope['variables'];
  /** See Scope.columnsOfRows. Null or absent: not known. */
  readonly rowNames?: readonly string[] | null;
  /** `pointer` is relative to the current operation. `name` is the name that two columns would have. */
  problem(pointer: string, code: string, message: string, name?: string): void;
}

// Implementation of Scope: names, ids and types of the columns from step to step. Has two modes. While a Template is
// checked, the scope is open: unknown names count as columns read from the file. In the plan of a Run it is closed:
// only the file's columns exist.

/** Maximum number of columns at one step: the same as for a file. */
const COLUMNS_MAX = 16_384;
const TOO_MANY = `A Template has at most ${COLUMNS_MAX} columns at a step.`;
/** Number of columns between two pauses of work that takes less than a microsecond for each. */
const COLUMNS_AT_ONCE = 512;

/** Number of short names that are matched between two pauses; longer names are matched one at a time. */
const NAMES_AT_ONCE = 16;
const SHORT_NAME_LENGTH_MAX = 64;

const NO_TABLES: Scope['tables'] = new Map();
const NO_TYPES: Scope['tableTypes'] = {};

/** Number of characters of a column set that a message shows. */
const SHOWN_SET_LENGTH_MAX = 200;

export class TemplateScope implements Scope {
  /** Names of file columns that operations read, with the strictest `if_missing` of the readers. */
  readonly reads = new Map<string, IfMissing>();
  /** Names read that the file's columns must have after a rename by pattern or style. */
  readonly derivedReads = new Map<string, IfMissing>();
  readonly uses = new Set<RunFact>();
  readonly #start: ScopeStart;
  readonly #fileNames = new Map<number, string>();
  readonly #absent = new Set<number>();
  readonly #byName = new Map<string, Column>();
  /** For each name that no longer exists, what happened to the column. */
  readonly #gone = new Map<string, GoneName>();
  readonly #flagId: number;
  readonly #patterns: ColumnPatterns;
  /** Results of `matchPatterns`: by pattern, for each column id 0 (unknown), NO_MATCH or MATCH. */
  readonly #matched = new Map<string, Uint8Array>();
  #columns: Column[] = [];
  /** New columns whose place is before or after another column, and the index at which they belong. */
  #inserted: { readonly at: number; readonly anchor: number; readonly columns: Column[] } | null = null;
  /** The part of `#columns` that is out of date: nothing, some types, or the set of columns. */
  #stale: 'nothing' | 'types' | 'columns' = 'nothing';
  #closed: boolean;
  /** The current operation selected columns without naming them. */ ranged = false;
  /** The last operation adds columns whose names come from rows. */ endsUnknown = false;
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

  /** Starts an operation, with its label for messages and its `if_missing`. */
  begin(step: { readonly label: string; readonly ifMissing: IfMissing }): void {
    this.#step = step;
    this.ranged = false;
  }

  /**
   * Matches the names of all columns with the patterns of column sets in the parameters of an operation, before its
   * `effect`, which cannot pause: a pattern may take seconds for the names of a wide file.
   */
  *matchPatterns(parameters: unknown): Slices {
    this.#matched.clear();
    const isSmall = (): boolean =>
      this.columns.length <= NAMES_AT_ONCE && this.columns.every(({ name }) => name.length <= SHORT_NAME_LENGTH_MAX);
    for (const source of patternsOf(parameters)) {
      if (isSmall()) return;
      const pattern = this.compilePattern(source);
      if ('problem' in pattern || this.#matched.has(source)) continue;
      const results = new Uint8Array(this.#nextId);
      for (const [index, { id, name }] of this.columns.entries()) {
        results[id] = pattern.test(name) ? MATCH : NO_MATCH;
        if (index % NAMES_AT_ONCE === 0 || name.length > SHORT_NAME_LENGTH_MAX) yield PAUSE;
      }
      this.#matched.set(source, results);
    }
  }

  /** After an invalid operation the columns are unknown: accept all later names. */
  forgive(): void {
    this.#closed = false;
    this.#gone.clear();
    this.#unknownRenamed = true;
  }

  get columns(): readonly Column[] {
    this.#insert();
    if (this.#stale !== 'nothing') {
      const now = this.#columns.map(({ name, id }) => ({ id, column: this.#byName.get(name) }));
      this.#columns = now.flatMap(({ id, column }) => (column?.id === id ? [column] : []));
      this.#stale = 'nothing';
    }
    return this.#columns;
  }

  /**
   * The columns in order, possibly with outdated types. Avoids rebuilding the list for each of many alternating
   * additions and type changes, which would take quadratic time.
   */
  get #places(): readonly Column[] {
    this.#insert();
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

  resolve(set: ColumnSet, pointer: string, need: SetNeed = 'some'): readonly Column[] {
    const columns = this.#resolved(set, pointer);
    if (columns.length > 0 || need === 'any') return columns;
    if (need === 'one') this.#noColumns(set, pointer);
    else this.noneFits(set, pointer);
    return columns;
  }

  noneFits(set: ColumnSet, pointer: string): void {
    if (this.#step.ifMissing !== 'skip') this.#noColumns(set, pointer);
  }

  #resolved(set: ColumnSet, pointer: string): readonly Column[] {
    if (typeof set === 'string' && set !== '*') return this.#readAll([set], () => pointer);
    if (Array.isArray(set)) return this.#readAll(set, (index) => `${pointer}/${index}`);
    this.ranged = true;
    const chosen = this.#range(set as Exclude<ColumnSet, readonly string[]>, pointer);
    const passed = this.#step.ifMissing === 'skip' ? this.#absent : null;
    return this.columns.filter((column) => column.id !== this.#flagId && !passed?.has(column.id) && chosen(column));
  }

  #noColumns(set: ColumnSet, pointer: string): void {
    // Missing names in a list are reported one by one, unless the operation skips them.
    const isReported = isListed(set) && this.#step.ifMissing !== 'skip';
    const isEmpty = this.columns.every(({ id }) => id === this.#flagId);
    if (!this.#closed || isReported || isEmpty) return;
    const written = JSON.stringify(set);
    const shown = written.length > SHOWN_SET_LENGTH_MAX ? `${written.slice(0, SHOWN_SET_LENGTH_MAX)}...` : written;
    this.problem(pointer, 'NO_COLUMNS', `No column at this step matches ${shown}.`);
  }

  add(name: string, type: ColumnType, pointer: string, place?: ColumnPosition, hasKinds?: true): Column {
    const taken = this.#byName.get(name);
    if (taken !== undefined) {
      const message = `The column ${JSON.stringify(name)} exists already at this step.`;
      this.#start.problem(pointer, 'COLUMN_EXISTS', message, name);
      return taken;
    }
    const isNext = place !== undefined && this.#isNext(place);
    const count = isNext ? this.#columns.length + this.#inserted!.columns.length : this.#places.length;
    if (this.#start.open && count === COLUMNS_MAX) this.problem(pointer, 'TOO_MANY_COLUMNS', TOO_MANY);
    if (place === undefined) return this.#append(name, type, this.#endIndex(), hasKinds);
    if (!isNext) {
      const at = this.#places.findIndex(({ id }) => id === place.column.id);
      if (at < 0) return this.#append(name, type, this.#endIndex(), hasKinds);
      this.#inserted = { at: place.side === 'after' ? at + 1 : at, anchor: place.column.id, columns: [] };
    }
    const column = this.#made(name, type, hasKinds);
    this.#inserted!.columns.push(column);
    return column;
  }

  /**
   * True if a new column at this place follows the columns in `#inserted`. These are inserted together, because an
   * operation may add thousands of columns to a wide file.
   */
  #isNext({ column: { id }, side }: ColumnPosition): boolean {
    const columns = this.#inserted?.columns ?? [];
    return side === 'before'
      ? columns.length > 0 && this.#inserted!.anchor === id && this.#columns[this.#inserted!.at]?.id === id
      : columns.at(-1)?.id === id;
  }

  #insert(): void {
    if (this.#inserted === null) return;
    const { at, columns } = this.#inserted;
    this.#inserted = null;
    this.#columns = [...this.#columns.slice(0, at), ...columns, ...this.#columns.slice(at)];
  }

  retype(column: Column, type: ColumnType, hasKinds?: true): void {
    const current = this.#byName.get(column.name);
    if (current?.id !== column.id) throw new Error('the column to retype is missing');
    this.#byName.set(column.name, { id: current.id, name: current.name, type, ...(hasKinds && { hasKinds }) });
    if (this.#stale === 'nothing') this.#stale = 'types';
  }

  setClock({ name, id }: Column, clock: string | undefined): void {
    const current = this.#byName.get(name);
    if (current?.id !== id || current.type !== 'datetime' || current.clock === clock) return;
    const { clock: _, ...plain } = current;
    this.#byName.set(name, { ...plain, ...(clock !== undefined && { clock }) });
    if (this.#stale === 'nothing') this.#stale = 'types';
  }

  remove(column: Column): void {
    if (column.id === this.#flagId) {
      this.problem(
        '',
        'FLAG_COLUMN',
        'The flag column cannot be removed by an operation. Leave it out in output.columns.',
      );
      return;
    }
    if (this.#byName.get(column.name)?.id !== column.id) return;
    this.#byName.delete(column.name);
    this.#gone.set(column.name, { now: null, label: this.#step.label });
    this.#stale = 'columns';
  }

  *rename(names: ReadonlyMap<Column, string>, pointer: string): Slices {
    const moves = [...names].filter(([column, name]) => column.name !== name);
    if (!(yield* this.#mayRename(moves, pointer))) return;
    const columns = [...this.columns];
    const renamed = new Map<number, string>();
    const { label } = this.#step;
    for (const [index, [{ id, name }, now]] of moves.entries()) {
      renamed.set(id, now);
      this.#byName.delete(name);
      this.#gone.set(name, { now, label });
      if (index % COLUMNS_AT_ONCE === 0) yield PAUSE;
    }
    for (const [index, column] of columns.entries()) {
      const name = renamed.get(column.id);
      if (index % COLUMNS_AT_ONCE === 0) yield PAUSE;
      if (name === undefined) continue;
      const now = { ...column, name };
      columns[index] = now;
      this.#byName.set(name, now);
      this.#gone.delete(name);
    }
    this.#columns = columns;
  }

  get tables(): Scope['tables'] {
    return this.#start.tables ?? NO_TABLES;
  }

  get tableTypes(): Scope['tableTypes'] {
    return this.#start.tableTypes ?? NO_TYPES;
  }

  get variables(): Scope['variables'] {
    return this.#start.variables ?? new Map();
  }

  /** It is no longer known whether a name belongs to the file, as after a rename of unknown columns. */
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
    const matched = this.#matched.get(set.pattern);
    return ({ id, name }) => {
      const known = matched?.[id] ?? 0;
      return known === 0 ? pattern.test(name) : known === MATCH;
    };
  }

  /**
   * Open scope: the file must have the column. Closed scope: a mistake in the Template or, in a Run, a missing file
   * column.
   */
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
    const gone = this.#gone.get(name);
    const others = () => this.columns.flatMap((column) => (column.id === this.#flagId ? [] : [column.name]));
    const hint = gone === undefined ? this.suggest(name, others) : ` ${reasonOf(gone)}`;
    this.problem(pointer, 'UNKNOWN_COLUMN', `The column ${JSON.stringify(name)} does not exist at this step.${hint}`);
  }

  #note(reads: Map<string, IfMissing>, name: string): void {
    const mode = this.#step.ifMissing;
    const known = reads.get(name);
    if (known === undefined || mode === 'fail' || (mode === 'null' && known === 'skip')) reads.set(name, mode);
  }

  *#mayRename(moves: readonly (readonly [Column, string])[], pointer: string): Sliced<boolean> {
    const moved = new Set(moves.map(([{ id }]) => id));
    const targets = new Set<string>();
    for (const [index, [column, name]] of moves.entries()) {
      if (index % COLUMNS_AT_ONCE === 0) yield PAUSE;
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
    const column = this.#made(name, type, hasKinds);
    if (at === this.#columns.length) this.#columns.push(column);
    else this.#columns.splice(at, 0, column);
    return column;
  }

  #made(name: string, type: ColumnType, hasKinds?: true): Column {
    const column: Column = { id: this.#nextId++, name, type, ...(hasKinds && { hasKinds }) };
    this.#byName.set(name, column);
    this.#gone.delete(name);
    return column;
  }
}

/** The operation that removed or renamed a column, and its new name or null. */
interface GoneName {
  readonly now: string | null;
  readonly label: string;
}

function reasonOf({ now, label }: GoneName): string {
  return now === null ? `It was removed by ${label}.` : `It is called ${JSON.stringify(now)} since ${label}.`;
}

/** True if the set names its columns one by one. */
function isListed(set: ColumnSet): boolean {
  return typeof set === 'string' ? set !== '*' : Array.isArray(set);
}

/** Results of matching a name with a pattern. */
const NO_MATCH = 1;
const MATCH = 2;

/** Patterns of column sets in the parameters of an operation. Some may be patterns for cells; these are not used. */
function* patternsOf(parameters: unknown): Generator<string, void, undefined> {
  if (typeof parameters !== 'object' || parameters === null) return;
  const entries = Object.entries(parameters);
  const [key, value] = entries[0] ?? [];
  if (entries.length === 1 && key === 'pattern' && typeof value === 'string') yield value;
  else for (const [, part] of entries) yield* patternsOf(part);
}

// The state of one check, and the meaning of names: macro variables, columns, and values of the Run.
import { suggestion } from '../../values/suggestion.ts';
import { type ExpressionEnvironment, typeOfColumn } from '../compile/environment.ts';
import { FUNCTIONS } from '../functions/index.ts';
import {
  dottedName,
  type ExpressionNode,
  type IdentifierNode,
  type IndexNode,
  type SelectNode,
} from '../syntax/ast.ts';
import { foreignFunction } from '../syntax/foreign-words.ts';
import type { ExpressionProblem, ProblemCode } from '../syntax/lexer.ts';
import { PROBLEMS_MAX } from '../syntax/limits.ts';
import type { NameResolution, Resolution } from './resolution.ts';
import {
  BOOL,
  BYTES,
  DECIMAL,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  isAssignable,
  listOf,
  mapOf,
  NULL,
  optionalOf,
  STRING,
  type Substitution,
  substitute,
  TIMESTAMP,
  type Type,
  typeOf,
  typeText,
  UINT,
  variable,
} from './type.ts';

// State of one check: types, resolutions, problems, and macro variables. The only language rule here is that number
// literals used together with a decimal are decimals.

/** A variable of a macro. */
export interface Local {
  readonly type: Type;
  readonly slot: number;
}

/** The state of one check. */
export class CheckScope {
  readonly environment: ExpressionEnvironment;
  readonly problems: ExpressionProblem[] = [];
  readonly resolutions = new Map<ExpressionNode, Resolution>();
  readonly slots = new Map<ExpressionNode, readonly number[]>();
  readonly columns = new Set<string>();
  readonly tables = new Set<string>();
  readonly uses = new Set<'value' | 'run_row' | 'started_at'>();
  readonly bound: Substitution = new Map();
  slotCount = 0;
  readonly #types = new Map<ExpressionNode, Type>();
  readonly #locals = new Map<string, Local[]>();
  readonly #checkNode: (scope: CheckScope, node: ExpressionNode) => Type;
  #variables = 0;

  constructor(environment: ExpressionEnvironment, checkNode: (scope: CheckScope, node: ExpressionNode) => Type) {
    this.environment = environment;
    this.#checkNode = checkNode;
  }

  get dynamic(): boolean {
    return this.environment.mode === 'dynamic';
  }

  /** Checks a node once and stores its type. */
  check(node: ExpressionNode): Type {
    const known = this.#types.get(node);
    if (known !== undefined) return known;
    const type = this.#checkNode(this, node);
    this.#types.set(node, type);
    return type;
  }

  /** The type of a checked node. */
  typeOf(node: ExpressionNode): Type {
    return this.#types.get(node)!;
  }

  report(code: ProblemCode, message: string, node: ExpressionNode): void {
    if (this.problems.length < PROBLEMS_MAX) this.problems.push({ code, message, offset: node.offset });
  }

  /** Reports a type problem. In dynamic mode, type problems are left to run time. */
  mismatch(message: string, node: ExpressionNode): void {
    if (!this.dynamic) this.report('EXPR_TYPE', message, node);
  }

  /** A sentence with the known name that was probably meant, or ''. */
  suggest(name: string, known: () => Iterable<string>): string {
    const { suggest } = this.environment;
    return suggest === undefined ? suggestion(name, known()) : suggest(name, known);
  }

  freshVariable(): Type {
    return variable(`_${this.#variables++}`);
  }

  /** Replaces the type variables that are known. */
  resolve(type: Type): Type {
    return substitute(this.bound, type, false);
  }

  /** Replaces all type variables; unknown ones become dyn. */
  final(type: Type): Type {
    return substitute(this.bound, type, true);
  }

  finalTypes(): Map<ExpressionNode, Type> {
    return new Map(Array.from(this.#types, ([node, type]) => [node, this.final(type)]));
  }

  local(name: string): Local | undefined {
    return this.#locals.get(name)?.at(-1);
  }

  get localNames(): string[] {
    return Array.from(this.#locals)
      .filter(([, stack]) => stack.length > 0)
      .map(([name]) => name);
  }

  /**
   * Calls `run` with macro variables, which hide other variables of the same name. Their slots are stored under the
   * node.
   */
  withLocals<T>(node: ExpressionNode, locals: readonly [string, Type][], run: () => T): T {
    const slots: number[] = [];
    for (const [name, type] of locals) {
      const slot = this.slotCount++;
      slots.push(slot);
      const stack = this.#locals.get(name) ?? [];
      stack.push({ type, slot });
      this.#locals.set(name, stack);
    }
    this.slots.set(node, slots);
    try {
      return run();
    } finally {
      for (const [name] of locals) this.#locals.get(name)!.pop();
    }
  }

  /** If one of the nodes is a decimal, number literals among the others become decimals. */
  shareDecimal(nodes: readonly ExpressionNode[]): void {
    const holds = (type: Type): boolean =>
      type.kind === 'decimal' || (type.kind === 'list' && holds(this.resolve(type.parameters[0]!)));
    if (!nodes.some((node) => holds(this.resolve(this.typeOf(node))))) return;
    for (const node of nodes) if (this.#isNumberLiteral(node)) this.#markDecimal(node);
  }

  /**
   * True for number literals, and for conditionals and lists that contain only number literals. Only these can become
   * decimals.
   */
  #isNumberLiteral(node: ExpressionNode): boolean {
    if (node.kind === 'literal') return ['double', 'int', 'decimal'].includes(this.typeOf(node).kind);
    if (node.kind === 'conditional') return this.#isNumberLiteral(node.then) && this.#isNumberLiteral(node.otherwise);
    if (node.kind !== 'list' || node.elements.length === 0) return false;
    return node.elements.every(({ value, optional }) => !optional && this.#isNumberLiteral(value));
  }

  #markDecimal(node: ExpressionNode): void {
    this.#types.set(node, node.kind === 'list' ? listOf(DECIMAL) : DECIMAL);
    if (node.kind === 'list') for (const { value } of node.elements) this.#markDecimal(value);
    if (node.kind === 'conditional') for (const branch of [node.then, node.otherwise]) this.#markDecimal(branch);
  }
}

// Resolves names: macro variables, columns, row["..."], value, run.row, run.started_at, run.meta, and names of types.
// Also checks fields and elements of values.

/** Checks a name without an operand. */
export function checkIdentifier(scope: CheckScope, node: IdentifierNode): Type {
  const { name } = node;
  if (!node.quoted) {
    const local = scope.local(name);
    if (local !== undefined) return resolved(scope, node, { kind: 'local', slot: local.slot }, local.type);
    const bound = scope.environment.variables?.get(name);
    if (bound !== undefined) return resolved(scope, node, { kind: 'variable', name }, bound);
    if (name === 'value' && scope.environment.value !== undefined) {
      scope.uses.add('value');
      return resolved(scope, node, { kind: 'value' }, typeOfColumn(scope.environment.value));
    }
  }
  const hidden = !node.quoted && (name === 'value' || name === 'row' || name === 'run');
  if (!hidden) {
    const type = node.quoted ? undefined : TYPE_NAMES.get(name);
    // Looking up a column can make it required. Therefore a type name is a column only if a known column has that
    // name.
    const isType = type !== undefined && !scope.environment.columns.has(name);
    const column = isType ? null : columnType(scope, node, name);
    if (column !== null) return column;
    if (isType) return resolved(scope, node, { kind: 'type', name: type.name }, typeOf(type));
  }
  return unknown(scope, node, name);
}

/** Checks `operand.field`: a dotted variable, a column of row, or a field. */
export function checkSelect(scope: CheckScope, node: SelectNode): Type {
  const dotted = node.test ? null : dottedVariable(scope, node);
  if (dotted !== null) return dotted;
  if (isRow(scope, node.operand)) {
    const type = columnType(scope, node, node.field) ?? unknownColumn(scope, node, node.field);
    return node.test ? BOOL : node.optional ? optionalOf(type) : type;
  }
  const operand = scope.resolve(scope.check(node.operand));
  const held = operand.kind === 'optional' ? operand.parameters[0]! : operand;
  const field = fieldType(scope, node, held);
  if (node.test) return BOOL;
  return node.optional || operand.kind === 'optional' ? optionalOf(field) : field;
}

/** Checks `operand[index]`: a column of row, an element, or the value of a key. */
export function checkIndex(scope: CheckScope, node: IndexNode): Type {
  if (isRow(scope, node.operand)) return checkRowIndex(scope, node);
  const operand = scope.resolve(scope.check(node.operand));
  const index = scope.check(node.index);
  const held = operand.kind === 'optional' ? operand.parameters[0]! : operand;
  const element = elementType(scope, node, held, index);
  return node.optional || operand.kind === 'optional' ? optionalOf(element) : element;
}

function resolved(scope: CheckScope, node: ExpressionNode, resolution: NameResolution, type: Type): Type {
  scope.resolutions.set(node, resolution);
  return type;
}

function columnType(scope: CheckScope, node: ExpressionNode, name: string): Type | null {
  const type = scope.environment.columns.get(name);
  if (type === undefined) return null;
  scope.columns.add(name);
  return resolved(scope, node, { kind: 'column', name }, typeOfColumn(type));
}

/** True if the node is the word `row` in the meaning of the current row. */
function isRow(scope: CheckScope, node: ExpressionNode): boolean {
  if (node.kind !== 'identifier' || node.name !== 'row' || node.quoted) return false;
  return scope.local('row') === undefined && !scope.environment.variables?.has('row');
}

function checkRowIndex(scope: CheckScope, node: IndexNode): Type {
  if (node.index.kind !== 'literal' || typeof node.index.value !== 'string') {
    scope.report('EXPR_BAD_ARGUMENT', 'row[...] takes the name of a column as a literal: row["Invoice No"].', node);
    return DYN;
  }
  const name = node.index.value;
  const type = columnType(scope, node, name) ?? unknownColumn(scope, node, name);
  return node.optional ? optionalOf(type) : type;
}

/** Resolves run.row, run.started_at and other variables with dotted names; null for other nodes. */
function dottedVariable(scope: CheckScope, node: SelectNode): Type | null {
  const name = dottedName(node);
  if (name === null) return null;
  const [root] = name.split('.', 1) as [string];
  if (scope.local(root) !== undefined) return null;
  const bound = scope.environment.variables?.get(name);
  if (bound !== undefined) return resolved(scope, node, { kind: 'variable', name }, bound);
  if (name === 'run.row') {
    scope.uses.add('run_row');
    return resolved(scope, node, { kind: 'run_row' }, INT);
  }
  if (name === 'run.started_at') {
    scope.uses.add('started_at');
    return resolved(scope, node, { kind: 'started_at' }, TIMESTAMP);
  }
  if (name.startsWith(META)) return unknownMeta(scope, node, name);
  const type = TYPE_NAMES.get(name);
  return type === undefined ? null : resolved(scope, node, { kind: 'type', name }, typeOf(type));
}

/** Prefix of the names of values above and below the table. */
const META = 'run.meta.';

function unknownMeta(scope: CheckScope, node: SelectNode, name: string): Type {
  const known = () => [...(scope.environment.variables?.keys() ?? [])].filter((one) => one.startsWith(META));
  const message = `input.preamble and input.footer declare no ${JSON.stringify(name.slice(META.length))}.`;
  return unresolved(scope, node, message + scope.suggest(name, known));
}

function unknownColumn(scope: CheckScope, node: ExpressionNode, name: string): Type {
  const { columns } = scope.environment;
  const message = `column ${JSON.stringify(name)} does not exist at this step.${scope.suggest(name, () => columns.keys())}`;
  return unresolved(scope, node, message);
}

function unknown(scope: CheckScope, node: IdentifierNode, name: string): Type {
  const { columns } = scope.environment;
  if (name === 'run') {
    return unresolved(
      scope,
      node,
      'run is not a value by itself. Write run.row, run.file, run.started_at or run.meta.<name>, or row["run"] for a column.',
    );
  }
  if (name === 'row') return unresolved(scope, node, 'row is not a value by itself. Write row["column"].');
  if (name === 'value') {
    const hint = columns.has('value')
      ? 'Write row["value"] for the column of this name.'
      : 'Write the name of the column; `value` is known in the expressions of set, in the rules of validate, and in the ' +
        '`where` of operations on cells that name the columns they edit.';
    return unresolved(scope, node, `value is the current cell, and there is no current cell here. ${hint}`);
  }
  const known = () => [...columns.keys(), ...scope.localNames];
  const quotable = columns.size > 0 ? scope.suggest(name, known) : '';
  return unresolved(scope, node, `column ${JSON.stringify(name)} does not exist at this step.${quotable}`);
}

function unresolved(scope: CheckScope, node: ExpressionNode, message: string): Type {
  if (!scope.dynamic) scope.report('EXPR_UNKNOWN_COLUMN', message, node);
  return resolved(scope, node, { kind: 'unknown' }, DYN);
}

function fieldType(scope: CheckScope, node: SelectNode, operand: Type): Type {
  if (operand.kind === 'map') return operand.parameters[1]!;
  if (operand.kind === 'optional') return optionalOf(fieldType(scope, node, operand.parameters[0]!));
  if (operand.kind !== 'dyn' && operand.kind !== 'variable') {
    const message = `${typeText(scope.final(operand))} has no fields, so .${node.field} does not exist.`;
    scope.mismatch(`${message} ${fieldHint(node.field, operand)}`.trim(), node);
  }
  return DYN;
}

/** Hint for fields of other languages that are functions here: x.year, x.length. */
function fieldHint(field: string, operand: Type): string {
  const known = FUNCTIONS.get(field);
  if (known !== undefined) return `Write ${known.style === 'method' ? `x.${field}()` : known.documentation.form}.`;
  // In x.str.upper(), the relevant part is the function after `str`.
  const foreign = field === 'str' ? null : foreignFunction(field);
  return foreign ?? (operand.kind === 'string' ? 'Functions are written as upper(x) or x.trim().' : '');
}

function elementType(scope: CheckScope, node: IndexNode, operand: Type, index: Type): Type {
  if (operand.kind === 'list') {
    if (!isAssignable(scope.bound, index, INT))
      scope.mismatch(`A list is indexed by an int, not ${typeText(index)}.`, node.index);
    return operand.parameters[0]!;
  }
  if (operand.kind === 'map') {
    const [key, value] = operand.parameters as [Type, Type];
    const numeric = NUMBERS.has(scope.resolve(key).kind) && NUMBERS.has(scope.resolve(index).kind);
    if (!numeric && !isAssignable(scope.bound, index, key)) {
      scope.mismatch(`The keys are ${typeText(scope.final(key))}, not ${typeText(index)}.`, node.index);
    }
    return value;
  }
  if (operand.kind !== 'dyn' && operand.kind !== 'variable') {
    const hint = operand.kind === 'string' ? indexHint(node.index) : '';
    scope.mismatch(`${typeText(scope.final(operand))} has no elements.${hint}`, node);
  }
  return DYN;
}

function indexHint(index: ExpressionNode): string {
  if (index.kind !== 'literal') return '';
  if (typeof index.value !== 'string') return ' Write x.substring(from, to) for a part of a text.';
  return ` Write row[${JSON.stringify(index.value.slice(0, 40))}] for the column of this name.`;
}

const NUMBERS: ReadonlySet<string> = new Set(['int', 'uint', 'double']);

/** Names of types as values. A column of the same name takes precedence. */
const TYPE_NAMES: ReadonlyMap<string, Type> = new Map([
  ['bool', BOOL],
  ['bytes', BYTES],
  ['decimal', DECIMAL],
  ['double', DOUBLE],
  ['int', INT],
  ['list', listOf(DYN)],
  ['map', mapOf(DYN, DYN)],
  ['null_type', NULL],
  ['optional_type', optionalOf(DYN)],
  ['string', STRING],
  ['type', typeOf(DYN)],
  ['uint', UINT],
  ['google.protobuf.Timestamp', TIMESTAMP],
  ['google.protobuf.Duration', DURATION],
]);

// A column of the file that is a list, a map, a struct, or a field that repeats: each row is put together from its stored columns
// into one JSON text (the record assembly of Dremel, by the levels of the entries).
import { Failed } from '../../protocol/failure.ts';
import { CELL_BYTES_MAX } from '../ceilings.ts';
import { malformedParquet } from './malformed-parquet.ts';
import type { NestedLeaf } from './nested-leaf.ts';
import { OPTIONAL, REPEATED, type SchemaNode } from './schema.ts';

/** Names of the repeated group of a list that is itself the element (backward compatibility rules of LogicalTypes.md). */
const ELEMENT_GROUPS = /^array$|_tuple$/;

export class NestedColumn {
  readonly node: SchemaNode;
  readonly leaves: readonly NestedLeaf[];
  readonly #column: number;
  #pieces: string[] = [];
  #length = 0;

  /** @param column of the file, from 1 */
  constructor(node: SchemaNode, leaves: readonly NestedLeaf[], column: number) {
    this.node = node;
    this.leaves = leaves;
    this.#column = column;
  }

  /** The next row's text, or null. Throws Failed. */
  readRow(): string | null {
    for (const leaf of this.leaves) {
      if (!leaf.hasEntry()) throw this.#broken(leaf, 'fewer rows in a column than in its row group');
      if (leaf.repetition !== 0) throw this.#broken(leaf, 'a row that begins in the middle of a list');
    }
    this.#pieces = [];
    this.#length = 0;
    if (this.node.repetition === OPTIONAL && this.#first(this.node).definition < this.node.definition) {
      this.#passAll(this.node);
      return null;
    }
    this.#write(this.node);
    return this.#pieces.join('');
  }

  /** Whether entries are left behind the last row. */
  hasMore(): boolean {
    return this.leaves.some((leaf) => leaf.hasEntry());
  }

  #write(node: SchemaNode): void {
    if (node.repetition === REPEATED) this.#writeElements(node, (element) => this.#writeValue(element));
    else if (this.#isMissing(node)) this.#writeNull(node);
    else this.#writeValue(node);
  }

  #writeValue(node: SchemaNode): void {
    const { children, meaning } = node;
    if (node.physical !== null) this.#writeLeaf(node);
    else if (meaning.is === 'list' && isList(node)) this.#writeList(children[0]!);
    else if (meaning.is === 'map' && isMap(node)) this.#writeMap(children[0]!);
    else this.#writeStruct(node);
  }

  #writeLeaf(node: SchemaNode): void {
    const leaf = this.#first(node);
    if (!leaf.hasEntry() || leaf.definition !== node.definition) throw this.#broken(leaf, 'levels that do not fit');
    this.#put(leaf.json());
    leaf.pass();
  }

  #writeStruct(node: SchemaNode): void {
    this.#put('{');
    for (const [index, child] of node.children.entries()) {
      this.#put(`${index === 0 ? '' : ','}${JSON.stringify(child.name)}:`);
      this.#write(child);
    }
    this.#put('}');
  }

  /** @param repeated what stands for the elements: a group around each, or the elements themselves */
  #writeList(repeated: SchemaNode): void {
    const isElement =
      repeated.physical !== null || repeated.children.length !== 1 || ELEMENT_GROUPS.test(repeated.name);
    this.#writeElements(repeated, (node) => (isElement ? this.#writeValue(node) : this.#write(node.children[0]!)));
  }

  #writeMap(entry: SchemaNode): void {
    const [key, value] = entry.children;
    this.#writeElements(
      entry,
      () => {
        const leaf = this.#first(key!);
        if (!leaf.hasEntry() || leaf.definition !== key!.definition) throw this.#broken(leaf, 'a map without a key');
        this.#put(`${leaf.key()}:`);
        leaf.pass();
        if (value === undefined) this.#put('null');
        else this.#write(value);
      },
      '{}',
    );
  }

  /** The elements of a repeated node, none where it is missing. */
  #writeElements(node: SchemaNode, write: (node: SchemaNode) => void, brackets = '[]'): void {
    this.#put(brackets[0]!);
    const first = this.#first(node);
    if (this.#isMissing(node)) this.#passAll(node);
    else {
      write(node);
      while (first.hasEntry() && first.repetition === node.repetitionLevel) {
        this.#put(',');
        for (const leaf of this.#leavesOf(node)) {
          if (!leaf.hasEntry() || leaf.repetition !== node.repetitionLevel)
            throw this.#broken(leaf, 'lists of different lengths side by side');
        }
        write(node);
      }
    }
    this.#put(brackets[1]!);
  }

  #writeNull(node: SchemaNode): void {
    this.#passAll(node);
    this.#put('null');
  }

  #isMissing(node: SchemaNode): boolean {
    const leaf = this.#first(node);
    if (!leaf.hasEntry()) throw this.#broken(leaf, 'levels that do not fit');
    return leaf.definition < node.definition;
  }

  /** Each stored column has one entry for what is missing. */
  #passAll(node: SchemaNode): void {
    for (const leaf of this.#leavesOf(node)) {
      if (!leaf.hasEntry() || leaf.definition >= node.definition) throw this.#broken(leaf, 'levels that do not fit');
      leaf.pass();
    }
  }

  #first(node: SchemaNode): NestedLeaf {
    return this.leaves[node.leaves[0] - this.node.leaves[0]]!;
  }

  #leavesOf(node: SchemaNode): readonly NestedLeaf[] {
    const [first, end] = node.leaves;
    const base = this.node.leaves[0];
    return this.leaves.slice(first - base, end - base);
  }

  #put(piece: string): void {
    this.#length += piece.length;
    if (this.#length > CELL_BYTES_MAX)
      throw new Failed('MALFORMED_FILE', `A cell of column ${this.#column} has more than ${CELL_BYTES_MAX} bytes.`);
    this.#pieces.push(piece);
  }

  #broken(leaf: NestedLeaf, what: string): Failed {
    return malformedParquet(what, leaf.pages.position);
  }
}

function isList({ children }: SchemaNode): boolean {
  return children.length === 1 && children[0]!.repetition === REPEATED;
}

function isMap({ children }: SchemaNode): boolean {
  const entry = children[0];
  if (children.length !== 1 || entry === undefined || entry.repetition !== REPEATED) return false;
  return entry.children.length >= 1 && entry.children.length <= 2 && entry.children[0]!.physical !== null;
}

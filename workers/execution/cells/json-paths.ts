// Paths to values inside JSON as one tree, so that one walk through a text finds them all; and that tree as the kernel reads it.
import {
  END,
  FIRST,
  HERE_END,
  ITEM_COUNT,
  ITEMS,
  KEY_BYTES_MAX,
  KEY_COUNT,
  KEY_SCRATCH,
  KEYS,
  NODE_BYTES,
  PATHS_BYTES,
  ROOT,
  WORDS_BYTES,
} from '../../kernel/layout/json-paths.ts';
import type { Heap } from '../../memory/heap.ts';
import { placeBytes } from './placed-text.ts';

/** Keys, and numbers of items. */
export type JsonPath = readonly (string | number)[];

export interface PathTree {
  /** The paths that end here. */
  readonly fields: number[];
  readonly children: Map<string | number, PathTree>;
  /** No item of an array behind this one is wanted. */
  lastItem: number;
  /** Whether a member of an object is wanted. */
  wantsMembers: boolean;
}

/** Of all paths; `order` has the place of each in the order of the tree, in which what is below a node stands together. */
export type PathRoot = PathTree & { readonly order: readonly number[] };

/** What UTF-8 has in place of half of a surrogate pair. */
const REPLACEMENT = '\ufffd';

export function pathTree(paths: readonly JsonPath[]): PathRoot {
  const root = emptyTree();
  for (const [index, path] of paths.entries()) {
    let tree = root;
    for (const part of path) {
      if (typeof part === 'number') tree.lastItem = Math.max(tree.lastItem, part);
      else tree.wantsMembers = true;
      const child = tree.children.get(part) ?? emptyTree();
      tree.children.set(part, child);
      tree = child;
    }
    tree.fields.push(index);
  }
  const order = paths.map(() => 0);
  let next = 0;
  const visit = ({ fields, children }: PathTree): void => {
    for (const field of fields) order[field] = next++;
    for (const child of children.values()) visit(child);
  };
  visit(root);
  return { ...root, order };
}

function emptyTree(): PathTree {
  return { fields: [], children: new Map(), lastItem: -1, wantsMembers: false };
}

/** Puts the tree into memory; gives its head, or 0: a key is not one that the kernel can compare. */
export function placePaths(heap: Heap, root: PathTree): number {
  if (!hasSoundKeys(root)) return 0;
  let next = 0;
  const place = ({ fields, children }: PathTree): number => {
    const node = heap.allocate(NODE_BYTES);
    const first = next;
    next += fields.length;
    const hereEnd = next;
    const keys = [...children].flatMap(([part, child]) => (typeof part === 'string' ? [{ part, child }] : []));
    const items = [...children].flatMap(([part, child]) => (typeof part === 'number' ? [{ part, child }] : []));
    const placed = new Map([...children.values()].map((child) => [child, place(child)]));
    const list = (words: readonly (readonly number[])[]): number => {
      const at = heap.allocate(Math.max(1, words.length) * WORDS_BYTES);
      heap.u32.set(words.flat(), at >>> 2);
      return at;
    };
    const keyList = list(
      keys.map(({ part, child }) => {
        const { at, bytes } = placeBytes(heap, Buffer.from(part));
        return [at, bytes, placed.get(child)!];
      }),
    );
    const itemList = list(
      items.sort((left, right) => left.part - right.part).map(({ part, child }) => [part, 0, placed.get(child)!]),
    );
    const put = (word: number, value: number): void => {
      heap.u32[(node + word) >>> 2] = value;
    };
    put(FIRST, first);
    put(HERE_END, hereEnd);
    put(END, next);
    put(KEYS, keyList);
    put(KEY_COUNT, keys.length);
    put(ITEMS, itemList);
    put(ITEM_COUNT, items.length);
    return node;
  };
  const head = heap.allocate(PATHS_BYTES);
  const node = place(root);
  const scratch = heap.allocate(KEY_BYTES_MAX);
  heap.u32[(head + ROOT) >>> 2] = node;
  heap.u32[(head + KEY_SCRATCH) >>> 2] = scratch;
  return head;
}

/** A key with half of a surrogate pair, or the sign for one, would be equal to others when both are UTF-8. */
function hasSoundKeys({ children }: PathTree): boolean {
  return [...children].every(
    ([part, child]) =>
      (typeof part === 'number' || !Buffer.from(part).toString().includes(REPLACEMENT)) && hasSoundKeys(child),
  );
}

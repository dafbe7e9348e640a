// Column names as paths into nested JSON objects (`nest`): the tree of a row, and names that cannot stand side by side.

/** A member of an object: a column's value, or an object of further members. */
export type JsonMember =
  | { readonly key: string; readonly column: number }
  | { readonly key: string; readonly members: readonly JsonMember[] };

/** Deeper names stay flat: no real file nests so far, and what reads the output recurses over it. */
export const NEST_DEPTH_MAX = 64;

interface ObjectNode {
  readonly key: string;
  readonly members: (LeafNode | ObjectNode)[];
  readonly byKey: Map<string, LeafNode | ObjectNode>;
}

interface LeafNode {
  readonly key: string;
  readonly column: number;
}

/**
 * The members of a row's object in the order in which they first appear. Members of one object stand together, so a column
 * may move forward to its siblings. A name with an empty part ("No.") is not a path and stays as it is.
 */
export function nestMembers(names: readonly string[], separator: string | null): readonly JsonMember[] {
  return buildTree(names, separator).members;
}

/**
 * Pairs of columns (by index, the later one second) that claim the same place: one is a value where the other needs an
 * object, such as `a` and `a.b`. To be refused when a Template is checked.
 */
export function nestConflicts(names: readonly string[], separator: string | null): readonly [number, number][] {
  return buildTree(names, separator).conflicts;
}

function buildTree(names: readonly string[], separator: string | null) {
  const root: ObjectNode = objectNode('');
  const conflicts: [number, number][] = [];
  names.forEach((name, column) => {
    const path = pathOf(name, separator);
    let parent = root;
    for (const key of path.slice(0, -1)) {
      const known = parent.byKey.get(key) ?? addNode(parent, objectNode(key));
      if ('column' in known) {
        conflicts.push([known.column, column]);
        return;
      }
      parent = known;
    }
    const key = path.at(-1)!;
    const known = parent.byKey.get(key);
    if (known === undefined) addNode(parent, { key, column });
    else conflicts.push([firstColumn(known), column]);
  });
  return { members: root.members, conflicts };
}

function pathOf(name: string, separator: string | null): string[] {
  if (separator === null || separator === '') return [name];
  const path = name.split(separator);
  return path.includes('') || path.length > NEST_DEPTH_MAX ? [name] : path;
}

function objectNode(key: string): ObjectNode {
  return { key, members: [], byKey: new Map() };
}

function addNode<Node extends LeafNode | ObjectNode>(parent: ObjectNode, node: Node): Node {
  parent.byKey.set(node.key, node);
  parent.members.push(node);
  return node;
}

function firstColumn(node: LeafNode | ObjectNode): number {
  let at = node;
  while ('members' in at) at = at.members[0]!;
  return at.column;
}

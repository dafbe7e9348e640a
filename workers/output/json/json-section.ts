// Settings of json and ndjson in a Template, and column names as paths into nested objects.
import { Type } from '../../bundled/type-box.ts';
import { nullable } from '../../template/section-schemas.ts';
import { defineOutputSection } from '../format.ts';

// Column names as paths into nested JSON objects (`nest`): builds the tree of a row, and finds names that conflict.

/** A member of an object: a column's value, or an object with further members. */
export type JsonMember =
  | { readonly key: string; readonly column: number }
  | { readonly key: string; readonly members: readonly JsonMember[] };

/** Deeper names stay flat. Real files never nest this deep, and readers of the output use recursion. */
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
 * The members of a row's object in the order of their first appearance. Members of one object are adjacent, so a
 * column may move forward to its siblings. A name with an empty part ("No.") is not a path and is kept unchanged.
 */
export function nestMembers(names: readonly string[], separator: string | null): readonly JsonMember[] {
  return buildTree(names, separator).members;
}

/**
 * Pairs of conflicting columns (by index, the later one second): one is a value where the other needs an object, such
 * as `a` and `a.b`. The check of a Template must refuse them.
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

// Settings of json and ndjson in a Template: the section `output.json`.

export interface JsonSettings {
  readonly layout: 'array' | 'ndjson';
  readonly decimals: 'number' | 'string';
  readonly nulls: 'include' | 'omit';
  /** Separator at which names are nested into objects; null = flat. */
  readonly nest: string | null;
}

const written = Type.Object({
  layout: nullable(Type.Enum(['array', 'ndjson']), 'null = according to the format.'),
  decimals: Type.Enum(['number', 'string'], {
    default: 'number',
    description: 'Exact decimals as numbers or as texts.',
  }),
  nulls: Type.Enum(['include', 'omit'], {
    default: 'include',
    description: 'Whether keys with the value null are written.',
  }),
  nest: nullable(
    Type.String({ minLength: 1 }),
    'Separator in column names that become nested objects, such as "."; null = flat.',
  ),
});

export const jsonSection = defineOutputSection({
  name: 'json',
  schema: written,
  settings: (json, format): JsonSettings => ({
    layout: json.layout ?? (format === 'ndjson' ? 'ndjson' : 'array'),
    decimals: json.decimals,
    nulls: json.nulls,
    nest: json.nest,
  }),
  check(json, format, report) {
    if (format === 'ndjson' && json.layout === 'array') {
      report('/layout', 'BAD_VALUE', 'The format ndjson has the layout ndjson. Write format: json for an array.');
    }
  },
  checkColumns(json, columns, report) {
    const names = columns.map(({ name }) => name);
    for (const [first, second] of nestConflicts(names, json.nest)) {
      const message = `The columns ${JSON.stringify(names[first])} and ${JSON.stringify(names[second])} have the same path when names are nested. Rename one of them.`;
      report('/nest', 'NAME_CONFLICT', message);
    }
  },
});

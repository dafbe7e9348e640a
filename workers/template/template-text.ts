// Opens a Template's text, JSON or YAML, and turns places in it into problems with pointer, line and column.
import { readJson } from './read-json.ts';
import { readYaml } from './read-yaml.ts';
import type { SourceNode } from './source-node.ts';
import { LineTable, PROBLEMS_MAX, placeOf, TEMPLATE_CHARACTERS_MAX } from './source-node.ts';
import type { Problem } from './template.ts';

export type TemplateFormat = 'json' | 'yaml';

/** A Template as it is stored. */
export interface TemplateText {
  readonly source: string;
  readonly format: TemplateFormat;
  /** Of the source's bytes, lower-case hex. */
  readonly sha256: string;
}

/** A Template's text that is sound as JSON or YAML. */
export interface ParsedTemplate {
  readonly root: SourceNode;
  /** The problem at a place of the text. */
  problem(pointer: string, code: string, message: string): Problem;
}

/** The format that a file name's ending tells: .json, .yaml, .yml; else null. */
export function templateFormat(fileName: string): TemplateFormat | null {
  const ending = /\.(json|ya?ml)$/i.exec(fileName)?.[1]?.toLowerCase();
  return ending === undefined ? null : ending === 'json' ? 'json' : 'yaml';
}

/** Reads the text; what is wrong with it as JSON or YAML comes back as problems with the pointer "". */
export function parseTemplate(
  source: string,
  format: TemplateFormat,
): { readonly text: ParsedTemplate } | { readonly problems: readonly Problem[] } {
  const text = source.startsWith('\uFEFF') ? source.slice(1) : source;
  if (text.length > TEMPLATE_CHARACTERS_MAX) {
    const message = `A Template has at most ${TEMPLATE_CHARACTERS_MAX} characters. Move lists into reference tables.`;
    return { problems: [{ pointer: '', line: 1, column: 1, code: 'TOO_LARGE', message }] };
  }
  const lines = new LineTable(text);
  const read = format === 'json' ? readJson(text) : readYaml(text);
  if ('problems' in read) {
    const problems = read.problems.slice(0, PROBLEMS_MAX);
    return {
      problems: problems.map(({ at, code, message }) => ({ pointer: '', ...lines.position(at), code, message })),
    };
  }
  const { root } = read;
  const problem = (pointer: string, code: string, message: string): Problem => {
    return { pointer, ...lines.position(placeOf(root, pointer)), code, message };
  };
  return { text: { root, problem } };
}

// What can be written where the cursor stands: operations, their parameters, functions, and the columns as they are there.
import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import type { LanguageName } from '../studio-answers.ts';
import type { Studio } from './studio.ts';

export function completions(studio: Studio): (context: CompletionContext) => CompletionResult | null {
  return (context) => {
    const word = context.matchBefore(/[\w-]+/);
    if (word === null && !context.explicit) return null;
    const from = word?.from ?? context.pos;
    const line = context.state.doc.lineAt(context.pos);
    const before = line.text.slice(0, from - line.from);
    // In a comment words are words.
    if (/(?:^|\s)#/.test(before)) return null;
    return { from, options: optionsAt(studio, before, line.number), validFor: /^[\w-]*$/ };
  };
}

function optionsAt(studio: Studio, before: string, line: number): Completion[] {
  const { operations, sections, functions } = studio.language;
  if (/^\s*- (?:\{\s*)?(?:op:\s*)?$/.test(before))
    return [...named(operations, 'class'), { label: 'op', type: 'keyword' }];
  if (before === '') return named(sections, 'keyword');
  const operation = operations.find(({ name }) => new RegExp(`\\b${name}\\b`).test(before));
  const isKey = /[{,]\s*$/.test(before) && !/[[(][^\])]*$/.test(before);
  const columns = columnsAt(studio, line).map(({ name, type }) => ({
    label: name,
    type: 'variable',
    detail: type,
    boost: 1,
  }));
  return [
    ...(operation !== undefined && isKey ? named(operation.parameters, 'property') : []),
    ...columns,
    ...(isKey ? [] : named(functions, 'function')),
  ];
}

/** As they come to the operation of this line. */
function columnsAt(studio: Studio, line: number): readonly { readonly name: string; readonly type: string }[] {
  const steps = studio.watched.value?.steps ?? [];
  const before = steps.filter((step) => step.line === null || step.line < line);
  return before.at(-1)?.columns ?? [];
}

function named(names: readonly LanguageName[], type: string): Completion[] {
  return names.map(({ name, summary }) => ({ label: name, type, info: summary }));
}

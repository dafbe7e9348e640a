// The editor for the Template's text, with completions at the cursor.
import {
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, isolateHistory } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import {
  bracketMatching,
  getIndentation,
  HighlightStyle,
  IndentContext,
  indentService,
  syntaxHighlighting,
  syntaxTree,
} from '@codemirror/language';
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { EditorState } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { effect } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Problem } from '../../../workers/template/template.ts';
import type { LanguageName } from '../studio-answers.ts';
import { itemAt, operationList } from './operation-list.ts';
import { itemOf } from './page-parts.ts';
import type { Studio } from './studio.ts';

// Completions at the cursor: operations, their parameters, functions, and the columns that exist at this point of the
// Template.

function completions(studio: Studio): (context: CompletionContext) => CompletionResult | null {
  return (context) => {
    const word = context.matchBefore(/[\w-]+/);
    if (word === null && !context.explicit) return null;
    const from = word?.from ?? context.pos;
    const line = context.state.doc.lineAt(context.pos);
    const before = line.text.slice(0, from - line.from);
    // No completion inside comments.
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

/** The columns in the input of the operation on this line. */
function columnsAt(studio: Studio, line: number): readonly { readonly name: string; readonly type: string }[] {
  const steps = studio.watched.value?.steps ?? [];
  const before = steps.filter((step) => step.line === null || step.line < line);
  return before.at(-1)?.columns ?? [];
}

function named(names: readonly LanguageName[], type: string): Completion[] {
  return names.map(({ name, summary }) => ({ label: name, type, info: summary }));
}

// The editor for the Template's text: CodeMirror with inline problems, quick fixes where the checker suggests one,
// and completion.

/** Colours come from the page's CSS variables (page.css), so that the editor follows both themes. */
const HIGHLIGHT = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--key)' },
  { tag: [tags.string, tags.content], color: 'var(--text)' },
  { tag: [tags.number, tags.bool, tags.keyword], color: 'var(--value)' },
  { tag: tags.comment, color: 'var(--quiet)', fontStyle: 'italic' },
]);

const THEME = EditorView.theme({
  '&': { height: '100%', color: 'var(--text)', backgroundColor: 'var(--paper)' },
  '.cm-scroller': { fontFamily: 'var(--mono)', fontSize: '13px' },
  '.cm-gutters': { color: 'var(--quiet)', backgroundColor: 'var(--panel)', border: 'none' },
  '.cm-activeLine': { backgroundColor: 'var(--hover)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': { backgroundColor: 'var(--selection) !important' },
  '.cm-tooltip': { backgroundColor: 'var(--panel)', color: 'var(--text)', border: '1px solid var(--line)' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--accent)', color: 'var(--on-accent)' },
  '.cm-diagnosticAction': { backgroundColor: 'var(--accent)', color: 'var(--on-accent)' },
});

/** Maximum distance between the reported position and the misspelt name, in characters. */
const MEND_REACH = 400;

export function Editor({ studio }: { readonly studio: Studio }): JSX.Element {
  const parent = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const view = new EditorView({ parent: parent.current!, state: startState(studio) });
    const shown: ShownStep = { step: -1, line: -1 };
    const ends = [
      effect(() => showText(view, studio.text.value)),
      effect(() => showProblems(view, studio.problems.value)),
      effect(() => showStep(view, studio, shown)),
      effect(() => showOffset(view, studio)),
    ];
    return () => {
      for (const end of ends) end();
      view.destroy();
    };
  }, [studio]);
  return <div ref={parent} class="editor" />;
}

function startState(studio: Studio): EditorState {
  const nonce = document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')!.content;
  return EditorState.create({
    doc: studio.text.peek(),
    extensions: [
      EditorView.cspNonce.of(nonce),
      EditorView.contentAttributes.of({ 'aria-label': 'Template', tabindex: '0' }),
      lineNumbers(),
      history(),
      drawSelection(),
      highlightActiveLine(),
      highlightSelectionMatches(),
      bracketMatching(),
      closeBrackets(),
      yaml(),
      indentService.of(indentAfterComment),
      syntaxHighlighting(HIGHLIGHT),
      lintGutter(),
      autocompletion({ override: [completions(studio)] }),
      // The Tab key leaves the editor, as everywhere in a page, so that keyboard users are not trapped in it.
      keymap.of([
        ...closeBracketsKeymap,
        ...completionKeymap,
        ...lintKeymap,
        ...searchKeymap,
        ...historyKeymap,
        ...defaultKeymap,
      ]),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) studio.write(update.state.doc.toString(), null);
        else if (update.selectionSet && update.view.hasFocus) chooseStep(update.state, studio);
      }),
      THEME,
    ],
  });
}

/**
 * Indentation of a new line after a comment, which drafts write after each step. The language would take the
 * indentation of the whole Template, because a comment does not belong to the step before it.
 * @returns undefined: there is no comment before the new line
 */
function indentAfterComment({ state, simulatedBreak }: IndentContext, at: number): number | null | undefined {
  if (simulatedBreak !== at) return undefined;
  const { name, from } = syntaxTree(state).resolveInner(at, -1);
  if (name !== 'Comment') return undefined;
  const line = state.doc.lineAt(at);
  const before = line.text.slice(0, from - line.from).trimEnd();
  if (before === '') return from - line.from;
  const end = line.from + before.length;
  return getIndentation(new IndentContext(state, { simulateBreak: end }), end);
}

/** A text from elsewhere (a new test, another program) is applied as an ordinary edit, so that it can be undone. */
function showText(view: EditorView, text: string): void {
  const { doc } = view.state;
  const shown = doc.toString();
  if (shown === text) return;
  let from = 0;
  while (from < shown.length && from < text.length && shown[from] === text[from]) from++;
  let [shownEnd, end] = [shown.length, text.length];
  while (shownEnd > from && end > from && shown[shownEnd - 1] === text[end - 1]) {
    shownEnd--;
    end--;
  }
  view.dispatch({
    changes: { from, to: shownEnd, insert: text.slice(from, end) },
    // Undo takes back one such edit at a time, however quickly they follow each other.
    annotations: isolateHistory.of('full'),
  });
}

/** The step that the cursor was moved to last, with its line. */
interface ShownStep {
  step: number;
  line: number;
}

/** Moves the cursor to the chosen step when another one is chosen, unless the user is in the text. */
function showStep(view: EditorView, studio: Studio, shown: ShownStep): void {
  const line = studio.chosen.value?.line ?? null;
  const step = studio.step.peek();
  if (line === null || view.hasFocus || studio.preview.peek() !== null || line > view.state.doc.lines) return;
  // New rows of the same step leave the text where it is, for example at a new test.
  if (shown.step === step && shown.line === line) return;
  Object.assign(shown, { step, line });
  const anchor = view.state.doc.line(line).from;
  view.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: 'nearest', yMargin: 40 }) });
}

/** Moves the cursor to a place that the user has chosen elsewhere in the page. */
function showOffset(view: EditorView, studio: Studio): void {
  const anchor = studio.shownOffset.value;
  if (anchor === null || anchor > view.state.doc.length) return;
  view.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: 'center' }) });
  studio.shownOffset.value = null;
}

/** Chooses the step that the cursor is in. */
function chooseStep(state: EditorState, studio: Studio): void {
  const item = itemAt(operationList(state.doc.toString()), state.selection.main.head);
  const step = item < 0 ? -1 : (studio.watched.peek()?.steps.findIndex((each) => itemOf(each) === item) ?? -1);
  if (step > 0 && !studio.isOld.peek() && studio.preview.peek() === null) studio.choose(step);
}

function showProblems(view: EditorView, problems: readonly Problem[]): void {
  const { doc } = view.state;
  const diagnostics = problems.map((problem): Diagnostic => {
    const line = doc.line(Math.min(doc.lines, Math.max(1, problem.line)));
    const from = Math.min(line.to, line.from + problem.column - 1);
    const fix = fixOf(doc.toString(), from, problem.message);
    const word = /^[\w-]+/.exec(doc.sliceString(from, line.to))?.[0].length ?? 1;
    const range = fix === null ? { from, to: Math.min(line.to, from + word) } : { from: fix.from, to: fix.to };
    return {
      ...range,
      severity: 'error',
      message: `${problem.code}: ${problem.message}`,
      actions:
        fix === null
          ? []
          : [
              {
                name: `Write "${fix.insert}"`,
                apply: (editor) => editor.dispatch({ changes: fix }),
              },
            ],
    };
  });
  view.dispatch(setDiagnostics(view.state, diagnostics));
}

interface Fix {
  readonly from: number;
  readonly to: number;
  readonly insert: string;
}

/** If the checker suggests what was probably meant, a fix that replaces the misspelt name with the suggestion. */
function fixOf(text: string, at: number, message: string): Fix | null {
  const found = /"([^"]+)"[^?]*Did you mean "([^"]+)"\?/.exec(message);
  if (found === null) return null;
  const [wrong, right] = [found[1]!, found[2]!];
  const from = text.indexOf(wrong, at);
  if (from < 0 || from - at > MEND_REACH) return null;
  return { from, to: from + wrong.length, insert: right };
}

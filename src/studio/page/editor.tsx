// The editor of the Template's text: CodeMirror with its problems inline, mends where the checker knows the answer, completion.
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { bracketMatching, HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { EditorState } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { effect } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Problem } from '../../../workers/template/template.ts';
import { completions } from './completions.ts';
import type { Studio } from './studio.ts';

/** Colours are those of the page (page.css), so that both themes are one. */
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

/** How far behind its place a misspelt name is looked for, in characters. */
const MEND_REACH = 400;

export function Editor({ studio }: { readonly studio: Studio }): JSX.Element {
  const parent = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const view = new EditorView({ parent: parent.current!, state: startState(studio) });
    const ends = [
      effect(() => showText(view, studio.text.value)),
      effect(() => showProblems(view, studio.problems.value)),
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
      syntaxHighlighting(HIGHLIGHT),
      lintGutter(),
      autocompletion({ override: [completions(studio)] }),
      // Tab leaves the editor, as everywhere: who works by keys must not be caught in it.
      keymap.of([
        ...closeBracketsKeymap,
        ...completionKeymap,
        ...lintKeymap,
        ...searchKeymap,
        ...historyKeymap,
        ...defaultKeymap,
      ]),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) studio.write(update.state.doc.toString());
      }),
      THEME,
    ],
  });
}

/** A text that comes from elsewhere (a test, another program) is an edit like others: it can be undone. */
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
  view.dispatch({ changes: { from, to: shownEnd, insert: text.slice(from, end) } });
}

function showProblems(view: EditorView, problems: readonly Problem[]): void {
  const { doc } = view.state;
  const diagnostics = problems.map((problem): Diagnostic => {
    const line = doc.line(Math.min(doc.lines, Math.max(1, problem.line)));
    const from = Math.min(line.to, line.from + problem.column - 1);
    const mend = mendOf(doc.toString(), from, problem.message);
    const word = /^[\w-]+/.exec(doc.sliceString(from, line.to))?.[0].length ?? 1;
    const range = mend === null ? { from, to: Math.min(line.to, from + word) } : { from: mend.from, to: mend.to };
    return {
      ...range,
      severity: 'error',
      message: `${problem.code}: ${problem.message}`,
      actions:
        mend === null
          ? []
          : [
              {
                name: `Write "${mend.insert}"`,
                apply: (editor) => editor.dispatch({ changes: mend }),
              },
            ],
    };
  });
  view.dispatch(setDiagnostics(view.state, diagnostics));
}

interface Mend {
  readonly from: number;
  readonly to: number;
  readonly insert: string;
}

/** Where the checker says what was probably meant: puts that in the place of what stands there. */
function mendOf(text: string, at: number, message: string): Mend | null {
  const found = /"([^"]+)"[^?]*Did you mean "([^"]+)"\?/.exec(message);
  if (found === null) return null;
  const [wrong, right] = [found[1]!, found[2]!];
  const from = text.indexOf(wrong, at);
  if (from < 0 || from - at > MEND_REACH) return null;
  return { from, to: from + wrong.length, insert: right };
}

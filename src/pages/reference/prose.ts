// Descriptions of the document as elements: of Markdown as much as they use, which is code in backticks and a list at the end.
import { type Child, element, type Html } from './html.ts';

/** The text before the list, and the list; null where there is none. */
export function prose(text: string): { readonly lead: Child; readonly list: Html | null } {
  const [lead = '', ...items] = text.split(/\n+- /);
  return {
    lead: withCode(lead),
    list:
      items.length === 0
        ? null
        : element(
            'ul',
            {},
            items.map((item) => element('li', {}, withCode(item))),
          ),
  };
}

function withCode(text: string): Child {
  return text.split('`').map((part, index) => (index % 2 === 0 ? part : element('code', {}, part)));
}

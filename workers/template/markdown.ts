// Texts as parts of a Markdown table.

export function code(text: string): string {
  return text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``;
}

/** A cell of a Markdown table. */
export function cell(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('|', '\\|').replaceAll('\t', '\\t').replace(/\r?\n/g, ' ');
}

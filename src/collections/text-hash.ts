// The hash by which keys are spread over the shards of tables. Whoever chooses keys that collide fills one shard of many,
// and makes it slow to grow: no more than their rate and the keys of an account allow.

/** FNV-1a over the UTF-16 units, its high bits folded down: 32 bits, unsigned. */
export function textHash(text: string): number {
  let digest = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    digest = Math.imul(digest ^ text.charCodeAt(index), 0x01000193);
  }
  return (digest ^ (digest >>> 16)) >>> 0;
}

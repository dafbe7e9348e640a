// An index from the hash of a name to a place, and the hash that spreads keys over shards.

// The hash that spreads keys over the shards of tables. An attacker may choose keys that collide, but they fill only
// one of many shards. The request rate and the number of keys per account limit how slow that shard becomes.

/** FNV-1a over the UTF-16 code units, with the high bits folded down: 32 bits, unsigned. */
export function textHash(text: string): number {
  let digest = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    digest = Math.imul(digest ^ text.charCodeAt(index), 0x01000193);
  }
  return (digest ^ (digest >>> 16)) >>> 0;
}

// An index from the hash of a name to a place (a number), stored in typed arrays only. A Map would need an object and
// a string per name, which the garbage collector copies twice and visits repeatedly. The index does not store the
// names, and two names may have the same hash.
//
// Open addressing with linear probing, without tombstones (Knuth, The Art of Computer Programming, volume 3, 6.4, R).

/** Powers of two. With a million entries, each shard has 4,000, and growing one takes a fraction of a millisecond. */
const SHARDS = 256;
const SLOTS_MIN = 16;

/** Marks a free slot. */
const FREE = -1;

export class HashIndex {
  #shards = Array.from({ length: SHARDS }, () => new Shard());

  /** @param hash 32 bits, unsigned */
  add(hash: number, place: number): void {
    this.#shard(hash).add(hash, place);
  }

  /** The place with this hash that `matches` accepts; null: not found. */
  find(hash: number, matches: (place: number) => boolean): number | null {
    return this.#shard(hash).find(hash, matches);
  }

  /** Removes the entry that was added with the same arguments. */
  remove(hash: number, place: number): void {
    this.#shard(hash).remove(hash, place);
  }

  #shard(hash: number): Shard {
    return this.#shards[hash >>> 24]!;
  }
}

/** Keeps between an eighth and a half of its slots in use. */
class Shard {
  #hashes = new Uint32Array(SLOTS_MIN);
  #places = new Float64Array(SLOTS_MIN).fill(FREE);
  #taken = 0;

  add(hash: number, place: number): void {
    this.#taken += 1;
    if (this.#taken * 2 > this.#places.length) this.#resize(this.#places.length * 2);
    this.#put(hash, place);
  }

  find(hash: number, matches: (place: number) => boolean): number | null {
    for (let slot = this.#at(hash); this.#places[slot] !== FREE; slot = this.#at(slot + 1)) {
      const place = this.#places[slot]!;
      if (this.#hashes[slot] === hash && matches(place)) return place;
    }
    return null;
  }

  remove(hash: number, place: number): void {
    let gap = this.#at(hash);
    while (this.#places[gap] !== place) {
      if (this.#places[gap] === FREE) throw new Error('a place was removed that had not been added');
      gap = this.#at(gap + 1);
    }
    // Entries after the gap move into it if lookups would no longer find them.
    for (let slot = this.#at(gap + 1); this.#places[slot] !== FREE; slot = this.#at(slot + 1)) {
      const home = this.#at(this.#hashes[slot]!);
      if (this.#at(slot - home) < this.#at(slot - gap)) continue;
      this.#hashes[gap] = this.#hashes[slot]!;
      this.#places[gap] = this.#places[slot]!;
      gap = slot;
    }
    this.#places[gap] = FREE;
    this.#taken -= 1;
    const { length } = this.#places;
    if (length > SLOTS_MIN && this.#taken * 8 < length) this.#resize(length / 2);
  }

  #resize(slots: number): void {
    const hashes = this.#hashes;
    const places = this.#places;
    this.#hashes = new Uint32Array(slots);
    this.#places = new Float64Array(slots).fill(FREE);
    for (let slot = 0; slot < places.length; slot += 1) {
      if (places[slot] !== FREE) this.#put(hashes[slot]!, places[slot]!);
    }
  }

  #put(hash: number, place: number): void {
    let slot = this.#at(hash);
    while (this.#places[slot] !== FREE) slot = this.#at(slot + 1);
    this.#hashes[slot] = hash;
    this.#places[slot] = place;
  }

  /** The slot of a number, modulo the number of slots. */
  #at(number: number): number {
    return number & (this.#places.length - 1);
  }
}

// Finds places by the hash of a name, in numbers alone: a Map of names is an object and a string for each, which the
// collector copies twice and looks at again and again. It does not know the names: two may have the same hash.
// Open addressing with linear probing, without tombstones (Knuth, The Art of Computer Programming, volume 3, 6.4, R).

/** Powers of two. A million entries are 4,000 in each shard: growing one takes a fraction of a millisecond. */
const SHARDS = 256;
const SLOTS_MIN = 16;

/** Of a slot, instead of a place. */
const FREE = -1;

export class HashIndex {
  #shards = Array.from({ length: SHARDS }, () => new Shard());

  /** @param hash 32 bits, unsigned */
  add(hash: number, place: number): void {
    this.#shard(hash).add(hash, place);
  }

  /** The place under this hash that `isIt` accepts; null: there is none. */
  find(hash: number, isIt: (place: number) => boolean): number | null {
    return this.#shard(hash).find(hash, isIt);
  }

  /** Removes what was added with just these. */
  remove(hash: number, place: number): void {
    this.#shard(hash).remove(hash, place);
  }

  #shard(hash: number): Shard {
    return this.#shards[hash >>> 24]!;
  }
}

/** Between an eighth and a half of its slots are taken. */
class Shard {
  #hashes = new Uint32Array(SLOTS_MIN);
  #places = new Float64Array(SLOTS_MIN).fill(FREE);
  #taken = 0;

  add(hash: number, place: number): void {
    this.#taken += 1;
    if (this.#taken * 2 > this.#places.length) this.#resize(this.#places.length * 2);
    this.#put(hash, place);
  }

  find(hash: number, isIt: (place: number) => boolean): number | null {
    for (let slot = this.#at(hash); this.#places[slot] !== FREE; slot = this.#at(slot + 1)) {
      const place = this.#places[slot]!;
      if (this.#hashes[slot] === hash && isIt(place)) return place;
    }
    return null;
  }

  remove(hash: number, place: number): void {
    let gap = this.#at(hash);
    while (this.#places[gap] !== place) {
      if (this.#places[gap] === FREE) throw new Error('a place was removed that had not been added');
      gap = this.#at(gap + 1);
    }
    // What stands behind the gap moves into it, where it would not be found otherwise.
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

  /** The slot of a number: they go round. */
  #at(number: number): number {
    return number & (this.#places.length - 1);
  }
}

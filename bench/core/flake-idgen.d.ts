declare module 'flake-idgen' {
  export default class FlakeId {
    constructor(options?: { id?: number; epoch?: number });
    /** Throws when the 4096 IDs of a millisecond are used up. */
    next(): Buffer;
  }
}

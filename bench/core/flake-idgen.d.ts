declare module 'flake-idgen' {
  export default class FlakeId {
    constructor(options?: { id?: number; epoch?: number });
    /** Throws after 4096 IDs in a millisecond. */
    next(): Buffer;
  }
}

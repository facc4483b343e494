// For Nest applications with any IdService: the rest of this package does not need Nest.
export { type HttpApplication, serializeBigInts } from './nest/bigint-json';
export { LeafExceptionFilter } from './nest/leaf-exception.filter';

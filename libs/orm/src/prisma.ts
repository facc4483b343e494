export { formattedId } from './prisma/leaf-keys';
export { type LeafKeysExtension, leafKeys } from './prisma/leaf-keys';
export type { PrismaModel, PrismaModels } from './prisma/leaf-keys';

import Type, { type TSchema } from 'typebox'
import { Nullable } from './schema.ts'

/** Contract 2.6: the envelope of every list. */
export const Page = <S extends TSchema>(item: S) =>
  Type.Object(
    {
      count: Type.Integer({ description: 'Total number of items.', examples: [1] }),
      next: Nullable(Type.String({ description: 'URL of the next page.', examples: [null] })),
      previous: Nullable(Type.String({ description: 'URL of the previous page.', examples: [null] })),
      results: Type.Array(item, { description: 'Items of this page.' }),
    },
    { title: `PageOf${titleOf(item)}`, description: 'A page of a list.' },
  )

const titleOf = (schema: TSchema): string => String((schema as { title?: string }).title)

export const pageQuery = {
  limit: Type.Optional(
    Type.Integer({ description: 'Number of results per page (default 100, at most 1000).', examples: [100] }),
  ),
  offset: Type.Optional(Type.Integer({ description: 'Index of the first result.', examples: [0] })),
}
export const PageQuery = Type.Object(pageQuery)

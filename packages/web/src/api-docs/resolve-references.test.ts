import { expect, it } from 'vitest'
import { resolveReferences } from './resolve-references.ts'

const document = {
  paths: { '/flags/': { post: { schema: { $ref: '#/components/Flag', description: 'The flag.' } } } },
  components: {
    Flag: {
      type: 'object',
      properties: { parent: { $ref: '#/components/Flag' }, name: { $ref: '#/components/a~1b%20c' } },
    },
    'a/b c': { type: 'string', title: 'Name' },
    Elsewhere: { $ref: 'https://example.com/schema.json' },
    Missing: { $ref: '#/components/Unknown' },
  },
}

const resolve = async (...path: string[]) => (await resolveReferences(document, path)).spec

it('replaces references by what they name, with what stands beside them', async () => {
  expect(await resolve('paths', '/flags/', 'post')).toEqual({
    schema: {
      type: 'object',
      description: 'The flag.',
      $$ref: '#/components/Flag',
      properties: {
        parent: { $ref: '#/components/Flag' },
        name: { type: 'string', title: 'Name', $$ref: '#/components/a~1b%20c' },
      },
    },
  })
})

it('leaves references to themselves and to other documents, and finds nothing where nothing is', async () => {
  expect(await resolve('components', 'Elsewhere')).toEqual({ $ref: 'https://example.com/schema.json' })
  expect(await resolve('components', 'Missing')).toBeUndefined()
  expect(await resolve('paths', 'constructor', 'name')).toBeUndefined()
})

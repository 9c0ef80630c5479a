import { allRoutes } from '@halyard/contract'
import fc from 'fast-check'
import createRouter from 'find-my-way'
import { describe, expect, it } from 'vitest'
import { createRouteTrie } from './route-trie.ts'

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

describe('route trie', () => {
  it("finds what Fastify's router finds, for every route of the contract and paths like theirs", () => {
    const trie = createRouteTrie<string>(100)
    const router = createRouter({ ignoreTrailingSlash: true, maxParamLength: 100 })
    for (const { method, path } of allRoutes) {
      trie.add(method, path, path)
      router.on(method, path, () => {}, path)
    }
    const segments = [...new Set(allRoutes.flatMap(({ path }) => path.split('/').slice(1)))].filter(each => each !== '')
    const segment = fc.oneof(
      fc.constantFrom(...segments.filter(each => !each.startsWith(':'))),
      fc.string({ minLength: 1, maxLength: 5 }).map(encodeURIComponent),
      fc.constantFrom('@current', '1', 'a%2Fb', 'a%20b', '%2541', 'x'.repeat(100), 'x'.repeat(101), 'ü'),
    )
    const like = fc.constantFrom(...allRoutes).chain(({ path }) =>
      fc
        .tuple(
          ...path
            .split('/')
            .slice(1)
            .map(each => (each.startsWith(':') ? segment : fc.constant(each))),
        )
        .map(parts => `/${parts.join('/')}`),
    )
    const random = fc.array(segment, { minLength: 1, maxLength: 6 }).map(parts => `/api/${parts.join('/')}`)
    fc.assert(
      fc.property(fc.constantFrom(...methods), fc.oneof(like, random), fc.boolean(), (method, path, hasSlash) => {
        const sent = hasSlash ? `${path}/` : path
        const found = trie.find(method, sent)
        const expected = router.find(method, sent)
        expect(found?.route).toBe(expected?.store)
        expect(found?.params ?? {}).toEqual({ ...expected?.params })
      }),
      { numRuns: 2000 },
    )
  })

  it('prefers a fixed segment, and falls back to a parameter', () => {
    const trie = createRouteTrie<string>(10)
    trie.add('GET', '/a/:id/x', 'parameter')
    trie.add('GET', '/a/fixed/y', 'fixed')
    expect(trie.find('GET', '/a/fixed/y/')).toEqual({ route: 'fixed', params: {} })
    expect(trie.find('GET', '/a/fixed/x')).toEqual({ route: 'parameter', params: { id: 'fixed' } })
    expect(trie.find('GET', '/a//x')).toBeUndefined()
    expect(trie.find('GET', '/a/%/x')).toBeUndefined()
    expect(trie.find('POST', '/a/1/x')).toBeUndefined()
  })
})

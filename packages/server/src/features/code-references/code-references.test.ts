import { codeReferencesMax } from '@halyard/contract'
import { expect, it } from 'vitest'
import { onEachDatabase } from '../../testing/databases.ts'
import { suiteScenario } from '../../testing/suite-scenario.ts'

onEachDatabase('code references', dialect => {
  const s = suiteScenario(dialect)

  const line = (flag_key: string, path: string, number: number, excerpt?: string) => ({
    flag_key,
    path,
    line: number,
    ...(excerpt !== undefined && { excerpt }),
  })
  const upload = (repository: string, references: readonly object[], others: object = {}) =>
    s.put(`${s.project}/code_references/`, { repository, references, ...others })
  const repositories = async () => (await s.get(`${s.project}/code_repositories/`)).body
  async function flagWith(key: string) {
    const { id } = (await s.post(`${s.project}/feature_flags/`, { key })).body
    const path = `${s.project}/feature_flags/${id}/`
    const places = async () =>
      (await s.get(`${path}code_references/`)).body.results.map(
        (one: { repository: string; path: string; line: number }) => `${one.repository} ${one.path}:${one.line}`,
      )
    return { path, places }
  }

  it('replaces the references of one repository and leaves those of others', async () => {
    const flag = await flagWith('replaced')
    const first = [line('replaced', 'b.ts', 2, "on('replaced')"), line('replaced', 'a.ts', 7), line('other', 'a.ts', 7)]
    const scan = { branch: 'main', commit: 'abc' }
    const { status, body } = await upload('acme/shop', first, scan)
    expect(status).toBe(200)
    expect(body).toMatchObject({ name: 'acme/shop', branch: 'main', commit: 'abc', reference_count: 3 })
    await upload('acme/api', [line('replaced', 'main.go', 1)])
    expect(await flag.places()).toEqual(['acme/api main.go:1', 'acme/shop a.ts:7', 'acme/shop b.ts:2'])
    const { results } = (await s.get(`${flag.path}code_references/?limit=1&offset=2`)).body
    expect(results).toEqual([
      {
        repository: 'acme/shop',
        ...scan,
        path: 'b.ts',
        line: 2,
        excerpt: "on('replaced')",
        scanned_at: body.scanned_at,
      },
    ])
    expect((await s.get(`${flag.path}used_by/`)).body).toMatchObject({
      code_references: 3,
      code_repositories: ['acme/api', 'acme/shop'],
    })
    // The same line twice is one reference, and repeating the upload changes nothing.
    for (let n = 0; n < 2; n += 1) {
      const again = await upload(' acme/shop ', [line('replaced', 'c.ts', 1), line('replaced', 'c.ts', 1)])
      expect(again.body).toMatchObject({ id: body.id, reference_count: 1, branch: null })
    }
    expect(await flag.places()).toEqual(['acme/api main.go:1', 'acme/shop c.ts:1'])
    expect(await repositories()).toMatchObject([
      { name: 'acme/api', reference_count: 1 },
      { name: 'acme/shop', reference_count: 1 },
    ])
  })

  it('never mixes two uploads of the same repository', async () => {
    const flag = await flagWith('raced')
    const scans = [1, 2, 3, 4].map(n => [1, 2, 3].map(m => line('raced', `scan-${n}.ts`, m)))
    const done = await Promise.all(scans.map(scan => upload('raced', scan)))
    expect(done.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    const places: string[] = await flag.places()
    expect(places).toHaveLength(3)
    expect(new Set(places.map(place => place.split(':')[0])).size).toBe(1)
  })

  it('keeps a flag from being archived until no code names it, unless forced with a reason', async () => {
    const flag = await flagWith('named')
    const { body: repository } = await upload('acme/web', [line('named', 'a.ts', 1), line('named', 'a.ts', 9)])
    const archive = (body?: object) => s.post(`${flag.path}archive/`, body)
    expect(await archive()).toMatchObject({
      status: 400,
      body: { code: 'in_use', detail: expect.stringContaining('Code refers to it: 2 lines in acme/web.') },
    })
    expect((await archive({ force: true })).body).toMatchObject({ attr: 'reason' })
    expect((await archive({ force: true, reason: 'Dead code.' })).body.archived).toBe(true)
    await s.post(`${flag.path}unarchive/`)
    expect((await s.delete(`${s.project}/code_repositories/${repository.id}/`)).status).toBe(204)
    expect((await s.delete(`${s.project}/code_repositories/${repository.id}/`)).status).toBe(404)
    expect((await archive()).body.archived).toBe(true)
  })

  it('refuses what is too much or wrong, and what belongs to others', async () => {
    const before = await repositories()
    const many = Array.from({ length: codeReferencesMax + 1 }, (_, n) => line('many', 'a.ts', n + 1))
    const wrong: readonly (readonly [string, readonly object[], object, string])[] = [
      ['wrong', many, {}, 'references'],
      ['wrong', [line('x', 'a.ts', 0)], {}, 'references'],
      ['wrong', [line('x', '', 1)], {}, 'references'],
      ['wrong', [line('x', 'a.ts', 1, 'x'.repeat(201))], {}, 'references'],
      [' ', [], {}, 'repository'],
      ['wrong', [], { commit: 7 }, 'commit'],
    ]
    for (const [repository, references, others, attr] of wrong) {
      const { status, body } = await upload(repository, references, others)
      expect([status, String(body.attr)]).toEqual([400, expect.stringContaining(attr)])
    }
    expect(await repositories()).toEqual(before)
    const stranger = await s.stranger(`elsewhere-${dialect}`)
    expect((await stranger.put(`${s.project}/code_references/`, { repository: 'x', references: [] })).status).toBe(404)
    const { body: theirs } = await stranger.put(`${stranger.project}/code_references/`, {
      repository: 'theirs',
      references: [],
    })
    expect((await s.delete(`${s.project}/code_repositories/${theirs.id}/`)).status).toBe(404)
    const { body: flag } = await stranger.post(`${stranger.project}/feature_flags/`, { key: 'theirs' })
    expect((await s.get(`${s.project}/feature_flags/${flag.id}/code_references/`)).status).toBe(404)
    expect((await stranger.get(`${stranger.project}/code_repositories/`)).body).toHaveLength(1)
  })
})

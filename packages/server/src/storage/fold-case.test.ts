import fc from 'fast-check'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { onEachDatabase } from '../testing/databases.ts'
import { suiteScenario } from '../testing/suite-scenario.ts'
import { foldCase, letterVariants, variantLetters } from './fold-case.ts'

/** Letters with case from several scripts, their variants, and what has no case. */
const letters = 'aAzZ09 %_\\\'"üÜßẞéÉøØσΣςάΆжЖёЁіІїЇġĠıIİſkKåÅdžDžDŽաԱ漢字😀𐐀𐐨ﬁİi̇'
const text = fc.array(fc.constantFrom(...letters), { maxLength: 30 }).map(parts => parts.join(''))

it('folds every letter as its uppercase and its lowercase', () => {
  expect([...letterVariants]).toHaveLength([...variantLetters].length)
  const differing: string[] = []
  for (let code = 0; code < 0x20000; code++) {
    if (code >= 0xd800 && code < 0xe000) continue
    const letter = String.fromCodePoint(code)
    for (const other of [letter.toLowerCase(), letter.toUpperCase()]) {
      if ([...other].length === 1 && foldCase(other) !== foldCase(letter)) differing.push(letter)
    }
  }
  expect(differing).toEqual([])
  expect(foldCase('İSTANBUL')).toBe('istanbul')
  expect(foldCase('ΟΔΟΣ')).toBe(foldCase('οδος'))
})

onEachDatabase('search in any case', dialect => {
  const s = suiteScenario(dialect)

  it('folds text in the database as it does in JavaScript', async () => {
    await fc.assert(
      fc.asyncProperty(text, async given => {
        const { rows } = await sql<{ folded: string }>`select halyard_fold(${given}) as folded`.execute(
          s.halyard.storage.reader,
        )
        expect(rows[0]?.folded).toBe(foldCase(given))
      }),
      { numRuns: 300 },
    )
  })

  const spellings = [
    'Über',
    'über',
    'ÜBER',
    'ÜBER UNS',
    '100%',
    'ΟΔΟΣ',
    'οδος',
    'οδοσ',
    'İSTANBUL',
    'istanbul',
    'ıstanbul',
  ]
  const name = 'Über uns, 100%: Οδός οδος İstanbul'

  const keysOf = async (path: string, field: string) =>
    (await s.get(path)).body.results.map((each: Record<string, unknown>) => each[field])

  it.each([
    ['feature_flags', 'name', { key: 'about-us', name }],
    ['cohorts', 'name', { name, filters: { properties: { type: 'AND', values: [] } } }],
    ['dashboards', 'name', { name }],
  ])('finds %s by their name', async (collection, field, body) => {
    const path = `${s.project}/${collection}/`
    expect((await s.post(path, body)).status).toBe(201)
    await s.post(path, { ...body, key: 'other', name: 'Uber uns' })
    for (const spelling of spellings) {
      expect(await keysOf(`${path}?search=${encodeURIComponent(spelling)}`, field), spelling).toEqual([name])
    }
    expect(await keysOf(`${path}?search=${encodeURIComponent('b_r')}`, field)).toEqual([])
  })

  it('finds flags by their tags', async () => {
    await s.post(`${s.project}/feature_flags/`, { key: 'tagged', tags: ['Übersicht', 7] })
    const found = (tags: unknown[]) =>
      keysOf(`${s.project}/feature_flags/?tags=${encodeURIComponent(JSON.stringify(tags))}`, 'key')
    expect(await found(['Übersicht'])).toEqual(['tagged'])
    expect(await found(['übersicht'])).toEqual(['tagged'])
    expect(await found(['ÜBERSICHT', 'x'])).toEqual(['tagged'])
    expect(await found(['Über'])).toEqual([])
    expect(await found([7])).toEqual(['tagged'])
  })

  it('finds persons and groups by their properties and ids', async () => {
    const properties = { $set: { city: 'Köln' } }
    await s.post('/capture/', { token: s.projectToken, distinct_id: 'Ärztin-1', event: '$identify', properties })
    await s.post('/capture/', {
      token: s.projectToken,
      distinct_id: 'Ärztin-1',
      event: '$groupidentify',
      properties: { $group_type: 'firm', $group_key: 'Müller', $group_set: { city: 'Zürich' } },
    })
    const persons = (search: string) =>
      keysOf(`${s.project}/persons/?search=${encodeURIComponent(search)}`, 'distinct_ids')
    await expect.poll(() => persons('KÖLN')).toEqual([['Ärztin-1']])
    expect(await persons('ärztin')).toEqual([['Ärztin-1']])
    const groups = (search: string) =>
      keysOf(`${s.project}/groups/?group_type_index=0&search=${encodeURIComponent(search)}`, 'group_key')
    await expect.poll(() => groups('MÜLLER')).toEqual(['Müller'])
    expect(await groups('ZÜRICH')).toEqual(['Müller'])
  })
})

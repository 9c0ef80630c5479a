import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { catalog } from '../packages/server/src/features/plugins/install/catalog.ts'
import { de } from '../packages/web/src/i18n/de.ts'
import { en } from '../packages/web/src/i18n/en.ts'

describe('the German web app', () => {
  it('describes every plugin of the catalog and its requirements', () => {
    const translated = catalog.map(({ url, needs }) => {
      const texts = de.plugins.catalogTexts[url]
      return { url, isDescribed: texts !== undefined, hasNeeds: texts?.needs !== undefined, needs: needs !== '' }
    })
    expect(translated.filter(each => !each.isDescribed || each.hasNeeds !== each.needs)).toEqual([])
  })
})

describe('the audit log in the web app', () => {
  const server = new URL('../packages/server/src/', import.meta.url)
  const read = (path: string) => readFileSync(new URL(path, server), 'utf8')

  it('names every type of object', () => {
    const types = read('domain/activity.ts').match(/(?<=\| ')[A-Z]\w+(?=')/g) ?? []
    expect(types.length).toBeGreaterThan(30)
    expect(types.filter(type => !Object.hasOwn(en.audit.nouns, type))).toEqual([])
  })

  it('has a verb for every activity', () => {
    const sources = readdirSync(server, { recursive: true, encoding: 'utf8' })
      .filter(path => path.endsWith('.ts') && !path.endsWith('.test.ts'))
      .map(read)
    const written = sources.flatMap(source => source.match(/(?<=\bactivity: ')\w+(?=')/g) ?? [])
    // These are deliveries of webhooks, not entries.
    const activities = new Set(written.filter(each => !['appended', 'tested'].includes(each)))
    expect(activities.size).toBeGreaterThan(30)
    const verbs = { ...en.history.verbs, ...en.audit.verbs }
    expect([...activities].filter(activity => !Object.hasOwn(verbs, activity))).toEqual([])
  })
})

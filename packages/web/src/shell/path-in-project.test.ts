import { describe, expect, it } from 'vitest'
import { pathIn } from './path-in-project.ts'

describe('the same page in another project', () => {
  it.each([
    ['/project/1/flags', '/project/2/flags'],
    ['/project/1/flags/17', '/project/2/flags'],
    ['/project/1/cohorts/new', '/project/2/cohorts'],
    ['/project/1/settings', '/project/2/settings'],
    ['/project/1/settings/webhooks', '/project/2/settings/webhooks'],
    ['/project/1', '/project/2'],
    ['/organization/x/freezes', '/project/2/flags'],
    ['/account', '/project/2/flags'],
  ])('of %s is %s', (path, there) => {
    expect(pathIn(path, 2)).toBe(there)
  })
})

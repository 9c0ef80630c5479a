import { Checkbox, CheckIcon, Switch } from '@mantine/core'
import classes from './row-controls.module.css'

interface Props {
  label: string
  isOn: boolean
  onChange: () => void
}

/*
 * Mantine's checkbox and switch as plain elements with the same classes. A list has dozens of each: as components, made
 * for labels, hints and errors, each has a dozen parts, and all of them rendered twice before the list was visible.
 */

const checkbox = Checkbox.classes
const toggle = Switch.classes

/** Selects a row. */
export const RowCheckbox = ({ label, isOn, onChange }: Props) => (
  <div className={classes.checkbox}>
    <div className={`mantine-Checkbox-inner ${checkbox.inner}`}>
      <input
        type="checkbox"
        className={`mantine-focus-auto ${checkbox.input}`}
        aria-label={label}
        checked={isOn}
        onChange={onChange}
      />
      <CheckIcon className={checkbox.icon as string} />
    </div>
  </div>
)

/** Turns the flag of a row on or off. */
export const RowSwitch = ({ label, isOn, onChange }: Props) => (
  <label className={classes.switch}>
    <input
      type="checkbox"
      // biome-ignore lint/a11y/useAriaPropsForRole: a checkbox has a state of its own.
      role="switch"
      className={`mantine-Switch-input ${toggle.input}`}
      aria-label={label}
      checked={isOn}
      onChange={onChange}
    />
    <span className={`mantine-Switch-track ${toggle.track}`} data-without-labels aria-hidden="true">
      <span className={toggle.thumb} data-with-thumb-indicator />
    </span>
  </label>
)

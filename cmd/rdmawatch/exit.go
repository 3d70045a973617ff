package main

// exit ends the program with a status of its own. Without an error nothing is
// said: the status is the answer.
type exit struct {
	status int
	err    error
}

func (e *exit) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exit) Unwrap() error { return e.err }

package objects

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"lastdrop/internal/sink"
)

// open makes the client. It asks nothing of the store yet.
func (t *Target) open() (*store, error) {
	s := t.settings()
	u, err := url.Parse(s.Endpoint)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || strings.Trim(u.Path, "/") != "" || u.User != nil {
		return nil, errors.New("output.s3.endpoint is no address of a store: write https://host or http://host:port")
	}
	creds := credentials.NewChainCredentials([]credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}})
	if s.AccessKey != "" {
		creds = credentials.NewStaticV4(s.AccessKey.Reveal(), s.SecretKey.Reveal(), s.SessionToken.Reveal())
	}
	if v, err := creds.GetWithContext(nil); err != nil || v.AccessKeyID == "" || v.SecretAccessKey == "" {
		return nil, errors.New("there are no credentials for the store: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or output.s3.access_key and secret_key")
	}
	const tries = 5
	client, err := minio.New(u.Host, &minio.Options{Creds: creds, Secure: u.Scheme == "https", Region: s.Region, MaxRetries: tries})
	if err != nil {
		return nil, fmt.Errorf("output.s3.endpoint: %w", err)
	}
	return &store{Target: s, client: client}, nil
}

func isCode(err error, code string) bool {
	return isResponse(err) && minio.ToErrorResponse(err).Code == code
}

// cures are what helps against errors of the store that a user can do something about.
var cures = map[string]string{
	"NoSuchBucket":                 "there is no such bucket: make it, or correct output.to",
	"AccessDenied":                 "the credentials may not do this: they need to read, write, list and remove objects in the folder",
	"InvalidAccessKeyId":           "the store does not know the access key: correct the credentials",
	"SignatureDoesNotMatch":        "the store refuses the secret key: correct the credentials",
	"ExpiredToken":                 "the session token has expired: get another, then run again, which goes on from here",
	"AuthorizationHeaderMalformed": "the region is another: set output.s3.region",
	"PermanentRedirect":            "the bucket is in another region: set output.s3.region or output.s3.endpoint",
}

// explain says what went wrong and what helps.
func (t *Target) explain(ctx context.Context, err error) error {
	var request *url.Error
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, sink.ErrReadBack):
		return err
	case isResponse(err):
		r := minio.ToErrorResponse(err)
		if cure := cures[r.Code]; cure != "" {
			return fmt.Errorf("%s (the store says %s)", cure, r.Code)
		}
		return fmt.Errorf("the store says %s: %s", r.Code, r.Message)
	case errors.As(err, &request):
		return fmt.Errorf("the store cannot be reached or hung up (%w): check output.s3.endpoint, then run again, which goes on from here", request.Err)
	}
	return err
}

// isResponse tells an answer of the store from what the client makes up.
func isResponse(err error) bool {
	var r minio.ErrorResponse
	return errors.As(err, &r)
}

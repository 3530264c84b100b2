"""A wine cellar on Django REST framework, which does all the paging.

usage: drf.py DATABASE PORT ROWS

Bottles 1..ROWS; 25 of them share a time of arrival, all share one shelf, none
has a lot or was opened. django-filter does the filters: FIELD__gte, __lt, __lte, __isnull.
"""
import datetime
import sys

import django
from django.conf import settings

database, port, rows = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
settings.configure(
    DEBUG=False, SECRET_KEY="for tests only", ALLOWED_HOSTS=["*"], ROOT_URLCONF=__name__, MIDDLEWARE=[], USE_TZ=True,
    INSTALLED_APPS=["rest_framework", "django_filters"], DEFAULT_AUTO_FIELD="django.db.models.AutoField",
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": database, "OPTIONS": {"timeout": 30}}},
    REST_FRAMEWORK={
        "DEFAULT_AUTHENTICATION_CLASSES": [], "DEFAULT_PERMISSION_CLASSES": [], "UNAUTHENTICATED_USER": None,
        "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    },
)
django.setup()

from django.core.wsgi import get_wsgi_application
from django.db import connection, models
from django.urls import path
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework import generics, pagination, serializers
from wsgiref import simple_server


class Bottle(models.Model):
    label = models.TextField()
    arrived = models.DateTimeField()
    shelf = models.IntegerField(default=1)
    lot = models.IntegerField(null=True)
    opened = models.DateField(null=True)

    class Meta:
        app_label = "cellar"
        db_table = "bottle"


class Shape(serializers.ModelSerializer):
    class Meta:
        model = Bottle
        fields = ["id", "label", "arrived", "lot", "opened"]


class Pages(pagination.PageNumberPagination):
    page_size, page_size_query_param, max_page_size = 20, "page_size", 200


class Offsets(pagination.LimitOffsetPagination):
    default_limit, max_limit = 20, 200


class ByArrival(pagination.CursorPagination):
    page_size, page_size_query_param, max_page_size, ordering = 20, "page_size", 200, "arrived"


class ByShelf(ByArrival):
    ordering = "shelf"


class ById(ByArrival):
    ordering = "id"


class One(generics.DestroyAPIView):
    queryset, serializer_class = Bottle.objects.all(), Shape


def many(pages, order):
    kind = type("Many", (generics.ListCreateAPIView,), {
        "queryset": Bottle.objects.order_by(*order), "serializer_class": Shape, "pagination_class": pages,
        "filter_backends": [DjangoFilterBackend],
        "filterset_fields": {field: ["gte", "lt", "lte", "isnull"] for field in ["id", "arrived", "lot", "opened"]}})
    return kind.as_view()


urlpatterns = [
    path("page/", many(Pages, ["id"])),
    path("newest/", many(Pages, ["-id"])),
    path("limit/", many(Offsets, ["id"])),
    path("cursor/", many(ByArrival, [])),
    path("serial/", many(ById, [])),
    path("ties/", many(ByShelf, [])),
    path("bottle/<int:pk>/", One.as_view()),
]

with connection.schema_editor() as editor:
    editor.create_model(Bottle)
start = datetime.datetime(2025, 3, 1, tzinfo=datetime.timezone.utc)
Bottle.objects.bulk_create([
    Bottle(id=i, label="bottle %d" % i, arrived=start + datetime.timedelta(hours=i // 25)) for i in range(1, rows + 1)
], batch_size=200)


class Quiet(simple_server.WSGIRequestHandler):
    def log_message(self, *args):
        pass


simple_server.make_server("127.0.0.1", port, get_wsgi_application(), handler_class=Quiet).serve_forever()
